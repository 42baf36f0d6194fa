import type { Environment } from '@backoffice/contracts'
import { type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'
import type { SqlQuestion } from './check.ts'

/**
 * The environments of brands, as the wallet was told when they were created. A brand that it does not know is taken for
 * one of production, because that is about real money.
 */
export async function readEnvironments(
  db: ReadDb,
  brands: readonly string[],
): Promise<(brandId: string | null) => Environment> {
  const rows = await db<{ id: string; environment: Environment }>`
    select id, environment from wallet.brand where id = any(${brands}::text[])
  `
  const environments = new Map(rows.map(({ id, environment }) => [id, environment]))
  return (brandId) => (brandId === null ? undefined : environments.get(brandId)) ?? 'production'
}

/** The environment of a brand, for a statement. */
export const environmentOf = (brandId: Fragment): Fragment =>
  sql`coalesce((select environment from wallet.brand where id = ${brandId}), 'production')`

const tables = {
  deposit: sql`payments.reconcilable_deposit`,
  withdrawal: sql`payments.reconcilable_withdrawal`,
  player: sql`players.reconcilable_player`,
}

/** Each record is of the environment of its brand, which its own service did not choose. */
export const environments = (['deposit', 'withdrawal', 'player'] as const).map(
  (kind): SqlQuestion => ({
    ...{ check: 'environments', kind, counts: true, plain: true },
    differences: (keys) => sql`
      select k.key, r.brand_id, r.id as subject, format('%s, as brand %s', ${environmentOf(sql`r.brand_id`)}, r.brand_id) as expected,
        r.environment as actual, 'A record is of another environment than its brand.' as explanation
      from ${keys} join ${tables[kind]} r on r.id = k.key
      where r.environment <> ${environmentOf(sql`r.brand_id`)}
    `,
  }),
)
