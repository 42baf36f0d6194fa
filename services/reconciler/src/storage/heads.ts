import type { ReadDb } from '@backoffice/service-runtime'

/** Where the hash chain of a player's account stands, as it is written to a file. */
export interface Head {
  readonly accountId: string
  readonly brandId: string
  readonly playerId: string
  readonly seq: string
  /** Hexadecimal. */
  readonly hash: string
}

/**
 * A page of the heads that may have moved since a time, in the order of accounts. It reads every account every few
 * minutes. An index on the time of the last change would cost more, at each posting. That time is PostgreSQL's, which a
 * trigger writes.
 */
export function listHeadsSince(
  db: ReadDb,
  { since, after, limit }: { readonly since: Date; readonly after: string; readonly limit: number },
): Promise<Head[]> {
  return db<Head>`
    select id::text as account_id, brand_id, owner_id as player_id, seq::text, encode(head, 'hex') as hash
    from wallet.account where owner_id is not null and seq > 0 and updated_at >= ${since}::timestamptz and id > ${after}::bigint
    order by id limit ${limit}
  `
}
