import type { Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'

/** Where the hash chain of a player's account stands. */
export interface Head {
  readonly accountId: string
  readonly brandId: string
  readonly playerId: string
  readonly seq: string
  /** Hexadecimal. */
  readonly hash: string
}

/**
 * A page of the heads that may have moved since a time, in the order of accounts. It reads every account: an index on
 * the time of the last change would cost each posting more than this costs every few minutes.
 */
export async function listHeadsSince(
  connection: Sql,
  { since, after, limit }: { readonly since: Date; readonly after: string; readonly limit: number },
): Promise<Head[]> {
  const { rows } = await sql<Head>`
    select id::text as "accountId", brand_id as "brandId", owner_id as "playerId", seq::text as seq, encode(head, 'hex') as hash
    from account where owner_id is not null and seq > 0 and updated_at >= ${since}::timestamptz and id > ${after}::bigint
    order by id limit ${limit}
  `.execute(connection)
  return rows
}
