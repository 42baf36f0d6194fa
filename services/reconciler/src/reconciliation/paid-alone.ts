import { aloneHours } from '@backoffice/contracts'
import { type Fragment, sql, unnest } from '@backoffice/service-runtime'
import type { SqlQuestion } from './check.ts'
import { environmentOf } from './environments.ts'

/** Up to which amount, in minor units, one person could approve withdrawals in production and pay them, and when. */
export interface PayAlone {
  /** Times as PostgreSQL reads them: a setting may hold since ever and for ever. */
  readonly begins: string
  readonly ends: string
  readonly upTo: bigint
}

/** The largest of the amounts that held at a moment. */
const payAloneAt = (payAlone: readonly PayAlone[], at: Fragment) => sql`(
  select max(up_to) from ${unnest('held', payAlone, 'begins timestamptz, ends timestamptz, up_to bigint')}
  where held.begins <= ${at} and ${at} < held.ends
)`

const aloneTime = sql`make_interval(hours => ${aloneHours}::int)`

/** Whether two steps are of one person: of one name, or of one account, whose name may change. */
const isSame = (one: Fragment, other: Fragment) =>
  sql`(${one}.by_name = ${other}.by_name or ${one}.by_id = ${other}.by_id)`

/** Withdrawals as `w` that one person approved and paid, with when and who it was as `paid`. */
const paidByApprover = sql`
  payments.reconcilable_withdrawal w
  join payments.reconcilable_transition paid on (paid.record_id, paid.to_status, paid.by_kind) = (w.id, 'paid', 'team')
  join payments.reconcilable_transition approved
    on (approved.record_id, approved.to_status, approved.by_kind) = (w.id, 'approved', 'team')
      and ${isSame(sql`approved`, sql`paid`)}
`

/**
 * In production whoever approved a withdrawal does not pay it, above an amount. What one person so pays of a player's
 * withdrawals within a day counts together, as payments counts at the moment of a call. A payment that is given an earlier
 * time counts for later ones, so these are judged again with it. An index has the times of withdrawals, so they must be
 * those of the history.
 */
export const paidAlone = (payAlone: readonly PayAlone[]): SqlQuestion => ({
  ...{ check: 'decisions', kind: 'withdrawal', counts: false },
  differences: (keys) => sql`
    with asked as (
      select w.id, w.brand_id, w.player_id, w.paid_at, paid.at, paid.by_name, paid.by_id
      from ${keys} join ${paidByApprover} on w.id = k.key
      where ${environmentOf(sql`w.brand_id`)} = 'production'
    )
    select id as key, brand_id, id as subject, format('paid at %s', at) as expected, format('paid at %s', paid_at) as actual,
      'A withdrawal that one person approved and paid was paid at another time than its history says.' as explanation
    from asked where paid_at is distinct from at
    union
    select day.id, asked.brand_id, day.id, 'paid by another person than who approved it',
      format('%s approved and paid %s of %s within %s hours', asked.by_name, day.sum, asked.player_id, ${aloneHours}::int),
      'One person approved and paid more of a player''s withdrawals than one may (minor units).'
    from asked cross join lateral (
      select w.id, paid.at, sum(w.amount) over (
        order by paid.at range between (${aloneTime} - interval '1 microsecond') preceding and current row
      ) as sum
      from ${paidByApprover}
      where w.player_id = asked.player_id and ${isSame(sql`paid`, sql`asked`)}
        and w.paid_at > asked.at - ${aloneTime} and w.paid_at < asked.at + ${aloneTime}
    ) day
    where day.at >= asked.at and day.sum > coalesce(${payAloneAt(payAlone, sql`day.at`)}, 0)
  `,
})
