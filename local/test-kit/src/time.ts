import type { Timer, Timers } from '@backoffice/process'
import pg from 'pg'
import { eventually, type Teardown } from './started.ts'

/**
 * The present of a test, for the services' processes and for `now()` of their PostgreSQL, which decides for all replicas.
 * The database of the test has a function of that name, which the services' roles find before PostgreSQL's own, and which
 * stamps what PostgreSQL itself stamps.
 */
export class TestTime {
  #at: Date | null
  readonly #databases: string[] = []

  /** @param at null: the system's time, until the test sets another */
  constructor(at: Date | null = null) {
    this.#at = at
  }

  now(): Date {
    return this.#at ?? new Date()
  }

  /** @param at null: the system's time */
  async set(at: Date | null): Promise<void> {
    this.#at = at
    for (const url of this.#databases) await this.#tell(url)
  }

  /**
   * Before the services connect to the database.
   * @param url the superuser's
   * @param services whose present it is to be
   */
  async install(url: string, services: readonly string[] = []): Promise<void> {
    await asSuperuser(
      url,
      `create schema test_time;
       grant usage on schema test_time to public;
       create table test_time.present (at timestamptz);
       insert into test_time.present values (null);
       create function test_time.now() returns timestamptz language sql stable security definer
         as 'select coalesce(at, pg_catalog.now()) from test_time.present';
       do $$ declare stamped record; begin
         for stamped in select adrelid::regclass as name, attname from pg_attrdef
           join pg_attribute on (attrelid, attnum) = (adrelid, adnum) where pg_get_expr(adbin, adrelid) = 'now()' loop
           execute format('alter table %s alter column %I set default test_time.now()', stamped.name, stamped.attname);
         end loop;
         ${services
           .flatMap((service) => [service, `${service}_reader`].map((role) => [role, searchPathOf(service)]))
           .map(
             ([role, path]) =>
               `execute format('alter role backoffice_${role} in database %I set search_path = ${path}', current_database());`,
           )
           .join('\n')}
       end $$`,
    )
    this.#databases.push(url)
    await this.#tell(url)
  }

  #tell(url: string): Promise<void> {
    const at = this.#at === null ? 'null' : `'${this.#at.toISOString()}'`
    return asSuperuser(url, `update test_time.present set at = ${at}`)
  }
}

/** With it another connection has the present of the test too. */
export const searchPathOf = (service: string): string => `${service}, test_time, pg_catalog`

/** Where it is about noon: whoever spends a daily limit by the real clock meets no midnight there. */
export const timeZoneAtNoon = (): string => {
  const west = new Date().getUTCHours() - 12 || -1
  return `Etc/GMT${west > 0 ? '+' : ''}${west}`
}

async function asSuperuser(url: string, statements: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statements)
  } finally {
    await client.end()
  }
}

interface Waiting {
  readonly run: () => void
  readonly atMs: number
  /** While time runs by itself. */
  real?: NodeJS.Timeout
}

/** Timers that run by themselves like a program's own, until a test stops them. It then moves them by hand. */
export class TestTimers implements Timers {
  readonly #waiting = new Set<Waiting>()
  readonly #originMs = Math.round(Date.now() - performance.now())
  #aheadMs = 0
  #stoppedAtMs: number | undefined

  now(): number {
    return Math.floor(this.#originMs + this.monotonic())
  }

  monotonic(): number {
    return this.#stoppedAtMs ?? performance.now() + this.#aheadMs
  }

  setTimeout(run: () => void, ms: number): Timer {
    const waiting: Waiting = { run, atMs: this.monotonic() + ms }
    this.#waiting.add(waiting)
    this.#arm(waiting)
    return waiting
  }

  clearTimeout(timer: Timer | undefined): void {
    const waiting = timer as Waiting | undefined
    if (waiting === undefined) return
    clearTimeout(waiting.real)
    this.#waiting.delete(waiting)
  }

  /** From now on nothing is due but by `advance`, until `t` ends. */
  stop(t: Teardown): void {
    this.#stop()
    t.teardown(() => this.#go())
  }

  /** Runs what is due in that time, each at its own moment. */
  advance(ms: number): void {
    const runs = this.#stoppedAtMs === undefined
    this.#stop()
    const untilMs = this.monotonic() + ms
    for (let next = this.#next(); next !== undefined && next.atMs <= untilMs; next = this.#next()) {
      this.#stoppedAtMs = Math.max(this.monotonic(), next.atMs)
      this.#waiting.delete(next)
      next.run()
    }
    this.#stoppedAtMs = untilMs
    if (runs) this.#go()
  }

  /** Waits for what the services do again and again: at each look another second has passed for them. */
  eventually<T>(probe: () => T | false | Promise<T | false>): Promise<Exclude<T, false>> {
    return eventually(() => {
      this.advance(1_000)
      return probe()
    })
  }

  /** At a whole millisecond, so that what is left of a time is exact. */
  #stop(): void {
    this.#stoppedAtMs = Math.ceil(this.monotonic())
    for (const { real } of this.#waiting) clearTimeout(real)
  }

  /** From where it stands. */
  #go(): void {
    this.#aheadMs = this.monotonic() - performance.now()
    this.#stoppedAtMs = undefined
    for (const waiting of this.#waiting) this.#arm(waiting)
  }

  #next(): Waiting | undefined {
    return [...this.#waiting].sort((a, b) => a.atMs - b.atMs)[0]
  }

  #arm(waiting: Waiting): void {
    if (this.#stoppedAtMs !== undefined) return
    waiting.real = setTimeout(
      () => {
        this.#waiting.delete(waiting)
        waiting.run()
      },
      Math.max(0, waiting.atMs - this.monotonic()),
    )
  }
}
