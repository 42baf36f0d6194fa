import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { operations } from '@backoffice/contracts'
import { eventually, type Teardown } from '@backoffice/test-kit'
import type { MoneyPath } from '../money-path.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** Long enough for a machine that runs everybody's tests at once. */
const heldUpTimeoutMs = 30_000
const sessionEndTimeoutMs = 10_000

/**
 * Payments as a process that is killed between two lines of its code: a lock on a table holds it up just before the next
 * line, and SIGKILL ends it there. Afterwards an ordinary replica takes over.
 */
export class DoomedPayments {
  readonly #path: MoneyPath
  readonly #child: ChildProcess

  private constructor(path: MoneyPath, child: ChildProcess) {
    this.#path = path
    this.#child = child
  }

  /** Starts it as the only replica. */
  static async start(t: Teardown, path: MoneyPath): Promise<DoomedPayments> {
    const { bed } = path
    await bed.services.payments.drain()
    const child = spawn(process.execPath, [main], {
      env: { ...process.env, ...bed.environment('payments') },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    t.teardown(() => child.kill('SIGKILL'))
    const input = { playerId: 'ply_nobody' }
    await eventually(() => bed.rpc.call(operations.payments.readDayDeposits, { scope: path.scope, input }), 30_000)
    return new DoomedPayments(path, child)
  }

  /** Holds up whoever writes to a table, until `release`. */
  async holdUp(table: string): Promise<{ readonly release: () => Promise<void> }> {
    const client = await this.#path.bed.sql('admin').connect()
    await client.query('begin')
    await client.query(`lock table ${table} in exclusive mode`)
    return {
      async release() {
        await client.query('rollback')
        client.release()
      },
    }
  }

  /** Resolves once a statement of payments, or of `service`, waits for a lock. */
  async isHeldUp(service: 'payments' | 'wallet' = 'payments'): Promise<void> {
    const text = `select from pg_stat_activity where datname = current_database() and usename = $1 and wait_event_type = 'Lock'`
    await eventually(
      async () => (await this.#path.bed.sql('admin').query(text, [`backoffice_${service}`])).rowCount !== 0,
      heldUpTimeoutMs,
    )
  }

  /** SIGKILL, and what PostgreSQL was about to do for it does not happen either: its sessions are gone, and their locks. */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
    await this.#path.bed
      .sql('admin')
      .query(
        `select pg_terminate_backend(pid, $1) from pg_stat_activity where datname = current_database() and usename like 'backoffice\\_payments%'`,
        [sessionEndTimeoutMs],
      )
  }

  /** Another replica starts, and the leases of the dead one run out. */
  async takeOver(): Promise<void> {
    await this.leasesRunOut()
    await this.#path.bed.start('payments')
  }

  /** A lease outlives whoever took it by up to half a minute, which no test waits for. */
  async leasesRunOut(): Promise<void> {
    await this.#path.bed.sql('admin').query('update payments.outbox set leased_until = now()')
  }
}

/** Calls whose caller has gone: what became of them is seen in the records. */
export function unheard(call: Promise<unknown>): void {
  call.catch(() => undefined)
}
