import type { Environment } from '@backoffice/contracts'
import { type Db, type ReadDb, unnest } from '@backoffice/service-runtime'

/** When keys were last used, by the id of the key. One that is missing was never used. */
export async function findCredentialUses(
  db: ReadDb,
  credentialIds: readonly string[],
): Promise<ReadonlyMap<string, Date>> {
  const rows = await db<{ credentialId: string; lastUsedAt: Date }>`
    select credential_id, last_used_at from credential_use where credential_id = any(${credentialIds}::text[])
  `
  return new Map(rows.map(({ credentialId, lastUsedAt }) => [credentialId, lastUsedAt]))
}

/** In the order of their ids, so that two replicas cannot deadlock. */
export async function writeCredentialUses(
  db: Db,
  uses: readonly { readonly credentialId: string; readonly at: Date }[],
): Promise<void> {
  await db`
    insert into credential_use (credential_id, last_used_at)
    select credential_id, at from ${unnest('use', uses, 'credential_id text, at timestamptz')} order by credential_id
    on conflict (credential_id) do update set last_used_at = greatest(credential_use.last_used_at, excluded.last_used_at)
  `
}

/** How many keys of operators that may call were not used since a moment. A key that is newer does not count. */
export function countUnusedCredentials(
  db: ReadDb,
  since: Date,
): Promise<{ readonly environment: Environment; readonly unused: bigint }[]> {
  return db<{ environment: Environment; unused: bigint }>`
    select b.environment, count(*) filter (
      where coalesce(u.last_used_at, c.created_at) < ${since}::timestamptz) as unused
    from credential c join brand b on b.id = c.brand_id join operator o on o.id = b.operator_id
    left join credential_use u on u.credential_id = c.id
    where c.revoked_at is null and o.suspended_at is null
    group by b.environment
  `
}
