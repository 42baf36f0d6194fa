import type { ReadDb } from '@backoffice/database'

/**
 * Names the history that the database is on: which PostgreSQL, and which of its timelines. A standby that was promoted
 * and a copy that was restored begin a new one. Both may have forgotten what was committed last, although others have
 * heard of it.
 */
export class DatabaseHistory {
  readonly #db: ReadDb
  #name: string | undefined

  constructor(db: ReadDb) {
    this.#db = db
  }

  /** As it was when it was read last; read now when it never was. */
  async name(): Promise<string> {
    return this.#name ?? (await this.#read())
  }

  /** @returns whether the database has changed to another history since it was read last */
  async hasChanged(): Promise<boolean> {
    const before = this.#name
    const now = await this.#read()
    return before !== undefined && before !== now
  }

  async #read(): Promise<string> {
    const [row] = await this.#db<{ name: string }>`
      select system_identifier || '-' || left(pg_walfile_name(pg_current_wal_lsn()), 8) as name from pg_control_system()
    `
    if (row === undefined) throw new Error('PostgreSQL does not say which history it is on')
    this.#name = row.name
    return row.name
  }
}
