import type { Environment } from '@backoffice/contracts'
import type { ReadDb } from '@backoffice/service-runtime'

/**
 * The environments of brands, each by one of its records, because a brand is in one environment. What no record tells is
 * taken for production, because that is about real money.
 */
export async function readEnvironments(
  db: ReadDb,
  brands: readonly string[],
): Promise<(brandId: string | null) => Environment> {
  const rows = await db<{ brandId: string; environment: Environment | null }>`
    select b.brand_id, coalesce(
      (select environment from payments.deposit d where d.brand_id = b.brand_id limit 1),
      (select environment from players.player p where p.brand_id = b.brand_id limit 1),
      (select environment from payments.withdrawal w where w.brand_id = b.brand_id limit 1)) as environment
    from unnest(${brands}::text[]) as b (brand_id)
  `
  const environments = new Map(rows.map(({ brandId, environment }) => [brandId, environment]))
  return (brandId) => (brandId === null ? null : environments.get(brandId)) ?? 'production'
}
