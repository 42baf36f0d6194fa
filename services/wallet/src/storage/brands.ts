import type { Environment } from '@backoffice/contracts'
import type { ReadDb } from '@backoffice/service-runtime'

/** A brand that is not known counts as one in production: there more care is taken. */
export async function environmentOf(db: ReadDb, brandId: string): Promise<Environment> {
  const [brand] = await db<{ environment: Environment }>`select environment from brand where id = ${brandId}`
  return brand?.environment ?? 'production'
}
