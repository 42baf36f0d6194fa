import type { Environment, Scope } from '@backoffice/contracts'
import type { Db, ReadDb } from '@backoffice/service-runtime'

/** Brands that this process has written. */
const written = new WeakMap<object, Set<string>>()

/** Keeps which environment a brand belongs to. Once written, it costs nothing. */
export async function rememberBrand(db: Db, { brandId, environment }: Scope): Promise<void> {
  const known = written.get(db.vault) ?? new Set()
  written.set(db.vault, known)
  if (known.has(brandId)) return
  await db`insert into brand (id, environment) values (${brandId}, ${environment}) on conflict do nothing`
  known.add(brandId)
}

/** A brand that is not known, because its accounts are older, counts as one in production: there more care is taken. */
export async function environmentOf(db: ReadDb, brandId: string): Promise<Environment> {
  const [brand] = await db<{ environment: Environment }>`select environment from brand where id = ${brandId}`
  return brand?.environment ?? 'production'
}
