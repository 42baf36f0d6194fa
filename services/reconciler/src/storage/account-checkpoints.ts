import { type Db, unnest } from '@backoffice/service-runtime'

/** How far the entries of an account were verified. */
export interface AccountCheckpoint {
  readonly accountId: bigint
  /** How many; of a player's account also the number of the last one. */
  readonly entries: bigint
  readonly balance: bigint
  /** Of a player's last entry; null of a system account. */
  readonly hash: Buffer | null
}

/** All of them hold entries of transactions below `below` only. What has not changed is not written. */
export async function keepAccountCheckpoints(
  db: Db,
  checkpoints: readonly AccountCheckpoint[],
  below: string,
): Promise<void> {
  if (checkpoints.length === 0) return
  const rows = checkpoints.map(({ balance, ...checkpoint }) => ({ ...checkpoint, balance: String(balance) }))
  await db`
    insert into account_checkpoint (account_id, entries, balance, hash, below)
    select account_id, entries, balance::numeric, hash, ${below}::text::xid8
    from ${unnest('c', rows, 'account_id bigint, entries bigint, balance text, hash bytea')}
    order by account_id
    on conflict (account_id) do update
      set entries = excluded.entries, balance = excluded.balance, hash = excluded.hash, below = excluded.below
      where account_checkpoint.below > excluded.below or (account_checkpoint.entries, account_checkpoint.balance,
        account_checkpoint.hash) is distinct from (excluded.entries, excluded.balance, excluded.hash)
        -- A system account's checkpoint is the sum up to exactly its transaction.
        or excluded.hash is null
  `
}
