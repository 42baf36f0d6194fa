import type { Environment, Scope } from '@backoffice/contracts'
import type { Database, ReadDb } from '@backoffice/service-runtime'

/** Keeps which environment a brand belongs to. @returns a function that costs nothing for a brand that it has written */
export function brandKeeper(): (db: Database, scope: Scope) => Promise<void> {
  const written = new Set<string>()
  return async (db, { brandId, environment }) => {
    if (written.has(brandId)) return
    await db`insert into brand (id, environment) values (${brandId}, ${environment}) on conflict do nothing`
    written.add(brandId)
  }
}

/** A brand that is not known, because its accounts are older, counts as one in production: there more care is taken. */
export async function environmentOf(db: ReadDb, brandId: string): Promise<Environment> {
  const [brand] = await db<{ environment: Environment }>`select environment from brand where id = ${brandId}`
  return brand?.environment ?? 'production'
}
