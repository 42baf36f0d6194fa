import { operations } from '@backoffice/contracts'
import { type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'
import { environmentOf, isNotOfFuture, type SqlQuestion, sqlCheck } from './check.ts'
import type { CalledFor } from './signed-calls.ts'

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

/**
 * The changes `c` of some keys of what players `p` of production may do, with the one `before` and the entry `a` of the trail
 * that a person has signed for it.
 */
const statusChanges = (keys: Fragment) => sql`
  ${keys}
  ${asNumber} join players.reconcilable_status_change c on c.id = n.id
  join players.reconcilable_player p on p.id = c.player_id and ${environmentOf(sql`p.brand_id`)} = 'production'
  cross join lateral (
    select coalesce((
      select b.next from players.reconcilable_status_change b
      where b.player_id = c.player_id and b.field = c.field and b.id < c.id order by b.id desc limit 1
    ), case c.field when 'status' then 'ativo' end) as next
  ) before
  left join players.reconcilable_audit a on (a.subject, a.operation_id, a.actor, a.outcome, a.signed)
      = (c.player_id, c.operation_id, c.actor, 'done', true)
    and a.operation = case c.field when 'status' then 'setPlayerStatus' else 'selfExcludePlayer' end
`

const lastOf = (field: string) => sql`(
  select c.next from players.reconcilable_status_change c where c.player_id = p.id and c.field = ${field} order by c.id desc limit 1
)`
const forGood = 'for good'
/** As a history says it. */
const exclusion = sql`case when p.self_excluded_from is not null then coalesce(
  to_char(p.self_excluded_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), ${forGood}) end`

/** In production the team says what a player may do. What that is now is what was said last. */
export const statusDecisions: readonly SqlQuestion[] = [
  {
    ...{ check: 'decisions', kind: 'statusChange', counts: true },
    differences: (keys) => sql`
      select k.key, p.brand_id, p.id as subject,
        case when a.id is null then 'a decision that a person of the team has signed' else 'it was ' || coalesce(before.next, 'none') end as expected,
        format('%s: %s, and it was %s, at %s by %s', c.field, c.next, coalesce(c.previous, 'none'), c.at, c.actor) as actual,
        'What a player may do was changed by nobody who may.' as explanation
      from ${statusChanges(keys)}
      where a.id is null or c.previous is distinct from before.next
    `,
  },
  {
    ...{ check: 'decisions', kind: 'player', counts: false },
    differences: (keys) => sql`
      select k.key, p.brand_id, p.id as subject, concat_ws(', excluded until ', now.status, now.exclusion) as expected,
        concat_ws(', excluded until ', p.status, ${exclusion}) as actual,
        'What a player may do is not what its history says.' as explanation
      from ${keys}
      join players.reconcilable_player p on p.id = k.key
      cross join lateral (
        select coalesce(${lastOf('status')}, 'ativo') as status, ${lastOf('selfExclusion')} as exclusion
      ) now
      where (p.status, ${exclusion}) is distinct from (now.status, now.exclusion)
    `,
  },
]

/** Nobody lifts a self-exclusion alone. */
export async function readStatusDecisions(db: ReadDb, keys: readonly string[]): Promise<CalledFor[]> {
  const rows = await db<
    Omit<CalledFor, 'operation' | 'says'> & {
      playerId: string
      field: string
      next: string | null
      before: string | null
    }
  >`
    select k.key, p.brand_id, p.id as subject, c.at, a.id as audit_id, p.id as player_id, c.field, c.next, before.next as before
    from ${statusChanges(sql`unnest(${keys}::text[]) as k (key)`)} where a.id is not null
  `
  const { setPlayerStatus, selfExcludePlayer } = operations.players
  return rows.map(({ playerId, field, next, before, ...row }) =>
    field === 'status'
      ? { ...row, operation: setPlayerStatus, says: { playerId, status: next }, takesTwo: before === 'autoexcluido' }
      : { ...row, operation: selfExcludePlayer, says: { playerId, until: next === forGood ? null : next } },
  )
}
