import { type ReadDb, sql } from '@backoffice/service-runtime'
import { type FoundDifference, isNotOfFuture, type SqlQuestion, sqlCheck } from './check.ts'
import { environmentOf } from './environments.ts'
import { isAccountOfPiece, type Share, type Turns } from './ranges.ts'
import type { Snapshots } from './snapshots.ts'

/** Every player has an account. One whose account is still being opened is listed as in flight. */
export const accounts = sqlCheck('accounts', {
  kind: 'player',
  differences: (keys) => sql`
    select k.key, p.brand_id, p.id as subject, 'an account' as expected, 'none' as actual,
      'A player was registered and has no account.' as explanation
    from ${keys}
    join players.reconcilable_player p on p.id = k.key
    where not exists (select from wallet.account a where a.brand_id = p.brand_id and a.owner_id = p.id)
      and not exists (
        select from players.reconcilable_outbox o where o.aggregate = p.id and o.kind = 'command'
          and ${isNotOfFuture(sql`o.created_at`)}
      )
  `,
})

/** A key as a number, as `n`: it is made here, also for a row that is looked up in another database. */
export const asNumber = sql`cross join lateral (select k.key::bigint as id offset 0) n`

/** The changes `c` of some keys that decided on players `p` of production. A submission decides nothing. */
export const productionDecisions = sql`
  ${asNumber} join players.reconcilable_kyc_change c on c.id = n.id
  join players.reconcilable_player p on p.id = c.player_id
  where ${environmentOf(sql`p.brand_id`)} = 'production' and c.next is distinct from 'em_analise'
`
export const isAuditOfDecision = sql`
  (a.subject, a.operation_id, a.actor, a.operation, a.outcome) = (c.player_id, c.operation_id, c.actor, 'decideKyc', 'done')
`

/**
 * In production a person decides who somebody is, and has signed that: a decision and its audit entry name one
 * operation. Players itself ends approvals, and says so in the trail. What a
 * player's status is now is what was decided last.
 */
export const kycDecisions: readonly SqlQuestion[] = [
  {
    ...{ check: 'decisions', kind: 'kycChange', counts: false },
    differences: (keys) => sql`
      select k.key, p.brand_id, p.id as subject, 'a decision that a person of the team has signed' as expected,
        format('%s at %s by %s', c.next, c.at, c.actor) as actual,
        'The KYC status of a player was changed by nobody who may.' as explanation
      from ${keys}
      ${productionDecisions}
        and not exists (
          select from players.reconcilable_audit a where ${isAuditOfDecision}
            and case when c.actor = 'players' and c.next = 'expirado'
                then a.session is null and reconciler.json_text(a.input, 'status') = c.next
              else a.actor_id is not null and a.session is not null and a.signed end
        )
    `,
  },
  {
    ...{ check: 'decisions', kind: 'player', counts: false },
    differences: (keys) => sql`
      select k.key, p.brand_id, p.id as subject, coalesce(last.next, 'nao_iniciado') as expected, p.kyc_status as actual,
        'The KYC status of a player is not what its history says.' as explanation
      from ${keys}
      join players.reconcilable_player p on p.id = k.key
      left join lateral (
        select c.next from players.reconcilable_kyc_change c where c.player_id = p.id order by c.id desc limit 1
      ) last on true
      where p.kyc_status is distinct from coalesce(last.next, 'nao_iniciado')
    `,
  },
]

/** Accounts that entries of players name and that are gone, between two ids of accounts. A full run alone goes through all ids. */
async function accountsGone(db: ReadDb, after: bigint | null, upTo: bigint | null): Promise<bigint[]> {
  const begin = after === null ? sql`` : sql`and account_id > ${after}::bigint`
  const end = upTo === null ? sql`` : sql`and account_id <= ${upTo}::bigint`
  const rows = await db<{ accountId: bigint }>`
    -- From one account's first entry to that of the next: a plain DISTINCT would read all entries between.
    with recursive owner (account_id) as (
      (select account_id from wallet.entry where seq is not null ${begin} ${end}
        order by account_id limit 1)
      union all
      select (select account_id from wallet.entry where seq is not null and account_id > owner.account_id ${end}
        order by account_id limit 1)
      from owner where owner.account_id is not null
    )
    select account_id from owner
    where account_id is not null and not exists (select from wallet.account a where a.id = owner.account_id and a.kind = 'player')
  `
  return rows.map(({ accountId }) => accountId)
}

interface PlayersPage {
  readonly ids: bigint[]
  readonly gone: readonly bigint[]
  /** Where the next page begins. Null: there is none. */
  readonly next: bigint | null
}

/** The next accounts of players, and those around them that are gone. */
export async function playersAfter(
  db: ReadDb,
  after: bigint | null,
  { limit, share }: { readonly limit: number; readonly share: Share },
): Promise<PlayersPage> {
  const rows = await db<{ id: bigint }>`
    select id from wallet.account where kind = 'player' and ${isAccountOfPiece(share)} ${after === null ? sql`` : sql`and id > ${after}`}
    order by id limit ${limit}
  `
  const ids = rows.map(({ id }) => id)
  const next = ids.length < limit ? null : (ids.at(-1) ?? null)
  return { ids, gone: await accountsGone(db, after, next), next }
}

export const accountGone = (id: bigint): FoundDifference => ({
  ...{ brandId: null, subject: `account ${id}`, expected: 'an account', actual: 'nothing' },
  explanation: 'The account of entries is gone.',
})

/** The accounts of players that belong to a share, page after page, each in a snapshot of its own. */
export async function* allPlayers(
  snapshots: Snapshots,
  of: { readonly limit: number; readonly share: Share; readonly turns: Turns<bigint> },
  isGone: (found: FoundDifference) => void,
): AsyncGenerator<bigint[]> {
  for (;;) {
    const page = await of.turns.take(async (after) => {
      const part = await snapshots.see((db) => playersAfter(db, after, of))
      return { part, next: part.next }
    })
    if (page === null) return
    for (const id of page.gone) isGone(accountGone(id))
    if (page.ids.length > 0) yield page.ids
  }
}
