import { Rejection, type Scope } from '@backoffice/contracts'
import type { Database, ReadDb } from '@backoffice/database'

/** More than this are forgotten together, and read again. */
const cachedMax = 10_000

/** A call that says of a brand what is not so. Nobody of ours makes one. */
export class ScopeMismatch extends Error {
  override readonly name = 'ScopeMismatch'

  constructor({ brandId }: Scope, field: string) {
    super(`the scope of a call has another ${field} than brand ${brandId}`)
  }
}

/**
 * What a service has kept of each brand: whose it is, its environment, currency and time zone. None of it ever changes, so a
 * brand is read once in a process.
 */
export class Brands {
  readonly #db: Database
  readonly #known = new Map<string, Promise<Scope | undefined>>()

  constructor(db: Database) {
    this.#db = db
  }

  /**
   * Holds a scope against its brand.
   * @throws {Rejection} SERVICE_UNAVAILABLE when the brand is not known here, or not yet
   * @throws {ScopeMismatch} when the scope says anything else than is so
   */
  async verify(scope: Scope): Promise<void> {
    const kept = await this.#find(scope.brandId)
    if (kept === undefined) {
      const cause = new Error(`brand ${scope.brandId} is not registered here`)
      throw new Rejection('SERVICE_UNAVAILABLE', undefined, { cause })
    }
    assertSame(scope, kept)
  }

  #find(brandId: string): Promise<Scope | undefined> {
    const known = this.#known.get(brandId)
    if (known !== undefined) return known
    const found = readBrand(this.#db.reader, brandId)
    if (this.#known.size >= cachedMax) this.#known.clear()
    this.#known.set(brandId, found)
    // Only what is known is cached: the brand may be registered at the next moment.
    const forget = () => this.#known.get(brandId) === found && this.#known.delete(brandId)
    found.then((kept) => kept ?? forget(), forget)
    return found
  }
}

/**
 * Keeps a brand. Again it changes nothing.
 * @throws {ScopeMismatch} when the brand is kept with another operator, environment, currency or time zone
 */
export async function keepBrand(db: Database, scope: Scope): Promise<void> {
  const { brandId, operatorId, environment, currency, timeZone } = scope
  await db`
    insert into brand (id, operator_id, environment, currency, time_zone)
    values (${brandId}, ${operatorId}, ${environment}, ${currency}, ${timeZone}) on conflict (id) do nothing
  `
  const kept = await readBrand(db, brandId)
  if (kept !== undefined) assertSame(scope, kept)
}

async function readBrand(db: ReadDb, brandId: string): Promise<Scope | undefined> {
  const [brand] = await db<Scope>`
    select id as brand_id, operator_id, environment, currency, time_zone from brand where id = ${brandId}
  `
  return brand
}

function assertSame(scope: Scope, kept: Scope): void {
  for (const field of ['operatorId', 'environment', 'currency', 'timeZone'] as const) {
    if (scope[field] !== kept[field]) throw new ScopeMismatch(scope, field)
  }
}

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
