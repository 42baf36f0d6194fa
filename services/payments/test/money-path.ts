import { randomInt, randomUUID } from 'node:crypto'
import { type EventMessage, type Input, type KeyClaim, operations, type Scope } from '@backoffice/contracts'
import { openMessage } from '@backoffice/database/vault'
import { players } from '@backoffice/players'
import { reconciler } from '@backoffice/reconciler'
import {
  eventually,
  keptMessages,
  newPlayer,
  reconcile,
  refusal,
  seenWithdrawal,
  type Teardown,
  type TestBed,
  type TestBedOptions,
  testBed,
  timeZoneAtNoon,
} from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import { payments } from '../src/service.ts'

const { players: playerOperations, payments: paymentOperations, wallet: walletOperations } = operations
const services = { players, wallet, payments, reconciler }

/** Intents are swept by the tests themselves, when they say so. */
const neverSweep = { INTENT_SWEEP_EVERY_MS: 3_600_000 }

/** Chosen once: the sides of an interleaving share a brand. */
const timeZone = timeZoneAtNoon()

/** The services that a payment passes through, and the steps that lead up to one. */
export async function moneyPath(t: Teardown, options: TestBedOptions = {}): Promise<MoneyPath> {
  const config = { ...options.config, payments: { ...neverSweep, ...options.config?.payments } }
  const bed = await testBed(t, services, { ...options, config })
  return new MoneyPath(bed, bed.scope(options.time === undefined ? { timeZone } : {}))
}

export class MoneyPath {
  readonly bed: TestBed<typeof services>
  readonly scope: Scope

  constructor(bed: TestBed<typeof services>, scope: Scope) {
    this.bed = bed
    this.scope = scope
  }

  in(overrides: Partial<Scope>): MoneyPath {
    return new MoneyPath(this.bed, this.bed.scope(overrides))
  }

  async newPlayer({ kyc = true }: { readonly kyc?: boolean } = {}): Promise<string> {
    const { scope } = this
    const { id } = await this.bed.rpc.call(playerOperations.registerPlayer, { scope, input: newPlayer() })
    if (kyc) await this.approveKyc(id)
    return id
  }

  /** By the team, as in both environments it may. */
  async approveKyc(playerId: string): Promise<void> {
    const input = { playerId, submission: null, status: 'aprovado' as const, reason: 'documents match' }
    await this.bed.team('carol').call(playerOperations.decideKyc, { input })
  }

  /** A player with approved KYC and money. */
  async newPlayerWith(amount: string): Promise<string> {
    const playerId = await this.newPlayer()
    const deposit = await this.createDeposit(playerId, { amount })
    await this.confirm(deposit.id)
    return playerId
  }

  createDeposit(
    playerId: string,
    body: Partial<Input<typeof paymentOperations.createDeposit>> = {},
    operationId: string = randomUUID(),
  ) {
    const externalReference = `pay-${randomInt(2 ** 47)}`
    const input = { playerId, amount: '10.00', currency: 'BRL', method: 'pix', externalReference, ...body }
    return this.bed.rpc.call(paymentOperations.createDeposit, { scope: this.scope, input, operationId })
  }

  confirm(depositId: string, operationId: string = randomUUID()) {
    return this.bed.rpc.call(paymentOperations.confirmDeposit, { scope: this.scope, input: { depositId }, operationId })
  }

  fail(depositId: string, { reason, operationId = randomUUID() }: { reason?: string; operationId?: string } = {}) {
    const input = { depositId, ...(reason === undefined ? {} : { reason }) }
    return this.bed.rpc.call(paymentOperations.failDeposit, { scope: this.scope, input, operationId })
  }

  requestWithdrawal(
    playerId: string,
    body: Partial<Input<typeof paymentOperations.requestWithdrawal>> = {},
    operationId: string = randomUUID(),
    key?: KeyClaim,
  ) {
    const input = { playerId, amount: '10.00', currency: 'BRL', method: 'pix', destination: 'ana@example.com', ...body }
    const options = { scope: this.scope, input, operationId, ...(key && { key }) }
    return this.bed.rpc.call(paymentOperations.requestWithdrawal, options)
  }

  getWithdrawal(withdrawalId: string) {
    return this.bed.rpc.call(paymentOperations.getWithdrawal, { scope: this.scope, input: { withdrawalId } })
  }

  cancel(withdrawalId: string, operationId: string = randomUUID()) {
    const input = { withdrawalId }
    return this.bed.rpc.call(paymentOperations.cancelWithdrawal, { scope: this.scope, input, operationId })
  }

  decideInSandbox(withdrawalId: string, decision: 'approve' | 'reject' | 'pay') {
    const input = { withdrawalId, decision }
    return this.bed.rpc.call(paymentOperations.decideWithdrawalInSandbox, { scope: this.scope, input })
  }

  async decide(
    user: 'alice' | 'bob',
    withdrawalId: string,
    decision: 'approve' | 'reject' | 'pay' | 'fail',
    { reason, operationId = randomUUID() }: { reason?: string; operationId?: string } = {},
  ) {
    const team = this.bed.team(user)
    const input = {
      ...(await seenWithdrawal(team, withdrawalId)),
      decision,
      ...(reason === undefined ? {} : { reason }),
    }
    return team.call(paymentOperations.decideWithdrawal, { input, operationId })
  }

  /** `available / withdrawable`, as one thing to compare. */
  async balance(playerId: string): Promise<string> {
    const { available, withdrawable } = await this.bed.rpc.call(walletOperations.getWallet, {
      scope: this.scope,
      input: { playerId },
    })
    return `${available} / ${withdrawable}`
  }

  async ledgerTypes(playerId: string): Promise<string[]> {
    const input = { playerId, limit: 200 }
    const page = await this.bed.rpc.call(walletOperations.listTransactions, { scope: this.scope, input })
    return page.data.map(({ type, amount }) => `${type} ${amount}`)
  }

  /** What was emitted about a record, oldest first, as an operator's server receives it. */
  async events(recordId: string): Promise<Pick<EventMessage, 'type' | 'data'>[]> {
    const { vault } = this.bed.services.payments.db
    const kept = await keptMessages(this.bed.sql('payments'), 'payments')
    const about = kept.filter(({ message }) => message.event.data.id === recordId)
    return about
      .toSorted((a, b) => a.message.event.data.version - b.message.event.data.version)
      .map(({ id, message }) => {
        const { type, data } = openMessage<{ event: EventMessage }>(vault, id, message).event
        return { type, data }
      })
  }

  /** What a reconciliation finds; `brandId`: of that brand alone. */
  async differences(brandId?: string): Promise<readonly unknown[]> {
    const report = await reconcile(this.bed.team('alice'))
    return report.differences.filter((found) => brandId === undefined || found.brandId === brandId)
  }

  /** Rows of payments' own tables, for what no operation shows. */
  async rows<T>(text: string, values: readonly unknown[] = []): Promise<T[]> {
    return (await this.bed.sql('payments').query(text, [...values])).rows as T[]
  }
}

/** How many of several calls at once ended how: `done`, or the code that they were refused with. */
export async function outcomes(calls: readonly Promise<unknown>[]): Promise<Record<string, number>> {
  const count: Record<string, number> = {}
  for (const code of await Promise.all(calls.map(refusal))) count[code ?? 'done'] = (count[code ?? 'done'] ?? 0) + 1
  return count
}

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
