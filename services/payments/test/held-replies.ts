import { randomUUID } from 'node:crypto'
import { eventually, refusal } from '@backoffice/test-kit'
import type { MoneyPath } from './money-path.ts'

/**
 * Holds up payments just before it stores the reply of an operation id: the transaction is nearly done, and what comes
 * meanwhile waits for the next one. It is no lock, since payments waits for locks only for a moment.
 */
export class HeldReplies {
  readonly #path: MoneyPath

  private constructor(path: MoneyPath) {
    this.#path = path
  }

  static async on(path: MoneyPath): Promise<HeldReplies> {
    await path.bed.sql('admin').query(`
      create table public.held_reply (operation_id text primary key);
      create function public.hold_reply() returns trigger language plpgsql security definer as $$
      begin
        while exists (select from public.held_reply h where h.operation_id = new.operation_id) loop
          perform pg_sleep(0.005);
        end loop;
        return new;
      end $$;
      create trigger hold_reply before insert on payments.operation for each row execute function public.hold_reply();
    `)
    return new HeldReplies(path)
  }

  async hold(operationId: string): Promise<void> {
    await this.#path.bed.sql('admin').query('insert into public.held_reply values ($1)', [operationId])
  }

  async release(operationId: string): Promise<void> {
    await this.#path.bed.sql('admin').query('delete from public.held_reply where operation_id = $1', [operationId])
  }

  /** Resolves once a transaction of payments is held up. */
  async isHeldUp(): Promise<void> {
    const text = `select from pg_stat_activity
      where datname = current_database() and usename = 'backoffice_payments' and wait_event = 'PgSleep'`
    await eventually(async () => (await this.#path.bed.sql('admin').query(text)).rowCount !== 0)
  }

  /**
   * Sends calls so that they wait together, and lets them go: they share a transaction. They must need nothing from
   * elsewhere before it.
   * @param behind a call of the same operation, which they wait for
   * @param last a query that reaches payments the way they do
   */
  async gather<T>(
    behind: (operationId: string) => Promise<unknown>,
    send: () => Promise<T>[],
    last: () => Promise<unknown> = () => this.#path.getWithdrawal('wdr_unknown'),
  ): Promise<readonly Promise<T>[]> {
    const operationId = randomUUID()
    await this.hold(operationId)
    const first = refusal(behind(operationId))
    await this.isHeldUp()
    const sent = send()
    for (const call of sent) call.catch(() => undefined)
    // Messages reach a service in the order in which they were sent: when this is answered, the calls before it wait.
    await refusal(last())
    await this.release(operationId)
    await first
    return sent
  }
}
