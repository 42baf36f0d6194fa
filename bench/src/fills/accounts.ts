import type { Subject } from '../stack/subject.ts'

/** The id of the n-th player (from 1) whose account is opened here: a valid id that can be computed. */
export const playerOf = (account: number): string => `ply_0bench${String(account).padStart(20, '0')}`

/** Opens accounts as the wallet would, all at once. Existing accounts stay as they are. */
export async function openAccounts(subject: Subject, count: number): Promise<void> {
  await subject.withSql(async (client) => {
    await client.query(
      `insert into wallet.account (brand_id, owner_id, kind, currency, genesis, head, created_at, updated_at)
       select $1, 'ply_0bench' || lpad(n::text, 20, '0'), 'player', $2, g.start, g.start, now(), now()
       from generate_series(1, $3::int) n
       cross join lateral (select sha256((n || gen_random_uuid()::text)::bytea) as start) g
       on conflict do nothing`,
      [subject.scope.brandId, subject.scope.currency, count],
    )
    await client.query('analyze wallet.account')
  })
}
