import { operations } from '@backoffice/contracts'
import { type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'
import type { SqlQuestion } from './check.ts'
import { environmentOf } from './environments.ts'
import { asNumber } from './players-checks.ts'
import type { CalledFor } from './signed-calls.ts'

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
