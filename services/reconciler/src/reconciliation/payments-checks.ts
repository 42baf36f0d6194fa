import { aloneHours } from '@backoffice/contracts'
import { type Fragment, sql } from '@backoffice/service-runtime'
import { isNotOfFuture, type SqlQuestion, sqlCheck } from './check.ts'
import { environmentOf } from './environments.ts'
import { holdsOf } from './ledger-checks.ts'

// Records with an unfinished command to the wallet are left out here: the check of what is in flight lists them.
const isFinished = (id: Fragment) => sql`not exists (
  select from payments.reconcilable_outbox o where o.aggregate = ${id} and o.kind = 'command'
    and ${isNotOfFuture(sql`o.created_at`)})`

/** Where payments live in another database, postgres_fdw looks them up there by values of no collation of their own. */
const comparable = (row: 't' | 'h') => sql`(
  select ${sql.fixed(row)}.reference collate "default" as reference, ${sql.fixed(row)}.brand_id collate "default" as brand_id offset 0
)`

/** A confirmed deposit has exactly its transfer; no other deposit has one. The kept sum of a player's day is that of its deposits. */
export const deposits = sqlCheck(
  'deposits',
  {
    ...{ kind: 'deposit', plain: true },
    differences: (keys) => sql`
      select k.key, d.brand_id, d.id as subject,
        case when d.status <> 'confirmed' then 'no credit: it is ' || d.status
          else format('%s %s to %s', d.amount, d.currency, d.player_id) end as expected,
        case when t.id is null then 'no credit' else format('%s %s to %s', t.amount, t.currency, t.owner_id) end as actual,
        'A deposit and the ledger do not agree (minor units).' as explanation
      from ${keys}
      join payments.reconcilable_deposit d on d.id = k.key
      left join lateral (
        select t.id, t.amount, a.owner_id, a.currency from wallet.transfer t join wallet.account a on a.id = t.credit_account
        where t.brand_id = d.brand_id and t.reference = d.id and t.type = 'DEPOSIT' and t.outcome = 'posted'
      ) t on true
      where case
        when d.status = 'confirmed' then (d.amount, d.currency, d.player_id) is distinct from (t.amount, t.currency, t.owner_id)
        else t.id is not null
      end and ${isFinished(sql`d.id`)}
    `,
  },
  {
    ...{ kind: 'transfer', plain: true },
    of: ({ type, isPosted }) => isPosted && type === 'DEPOSIT',
    differences: (keys) => sql`
      select k.key, t.brand_id, t.reference as subject, 'no credit: there is no such deposit' as expected,
        format('%s %s to %s', t.amount, a.currency, a.owner_id) as actual,
        'A deposit and the ledger do not agree (minor units).' as explanation
      from ${keys}
      join wallet.transfer t on t.id = k.key
      left join wallet.account a on a.id = t.credit_account
      cross join lateral ${comparable('t')} r
      left join payments.reconcilable_deposit d on d.id = r.reference and d.brand_id = r.brand_id
      where d.id is null
    `,
  },
  {
    ...{ kind: 'deposit', plain: true },
    // By the player's newest deposit alone, so that no day is summed twice.
    differences: (keys) => sql`
      select k.key, d.brand_id, d.player_id as subject, format('%s on %s', day.total, day.date) as expected,
        format('%s on %s', p.day_total, p.day) as actual,
        'The sum that is held against a daily limit is not that of the deposits (minor units).' as explanation
      from ${keys}
      join payments.reconcilable_deposit d on d.id = k.key
      join payments.reconcilable_depositor p on p.player_id = d.player_id and p.day is not null
      cross join lateral (
        select (d.created_at at time zone d.time_zone)::date as date, coalesce(sum(o.amount), 0) as total
        from payments.reconcilable_deposit o
        where o.player_id = d.player_id and o.status <> 'failed'
          and o.created_at >= date_trunc('day', d.created_at at time zone d.time_zone) at time zone d.time_zone
      ) day
      where (p.day, p.day_total) is distinct from (day.date, day.total) and not exists (
        select from payments.reconcilable_deposit later
        where later.player_id = d.player_id and (later.created_at, later.id) > (d.created_at, d.id)
      )
    `,
  },
)

const holdOfStatus = sql`case w.status
  when 'under_review' then 'open' when 'approved' then 'open' when 'paid' then 'captured'
  when 'rejected' then 'released' when 'cancelled' then 'released' when 'failed' then 'released' when 'abandoned' then 'released'
  when 'refused' then 'refused' end`

/**
 * A withdrawal's hold has the state that belongs to its status, and no open or captured hold is without a withdrawal.
 * Intents are listed as in flight.
 */
export const withdrawals = sqlCheck(
  'withdrawals',
  {
    kind: 'withdrawal',
    differences: (keys) => sql`
      select k.key, w.brand_id, w.id as subject,
        format('a hold that is %s, of %s %s on %s (it is %s)', ${holdOfStatus}, w.amount, w.currency, w.player_id, w.status) as expected,
        case when h.reference is null then 'no hold'
          else format('a hold that is %s, of %s %s on %s', h.state, h.amount, h.currency, h.owner_id) end as actual,
        'A withdrawal and its hold do not agree (minor units).' as explanation
      from ${keys}
      join payments.reconcilable_withdrawal w on w.id = k.key
      left join lateral (
        select h.*, a.owner_id, a.currency from wallet.hold h join wallet.account a on a.id = h.account_id
        where h.brand_id = w.brand_id and h.reference = w.id
      ) h on true
      where case
        when w.status = 'intent' then false
        -- Refused without a hold: the wallet was never reached. Released without an amount: the release came first.
        when w.status = 'refused' then coalesce(h.state in ('open', 'captured'), false)
        -- Abandoned before its refusal was heard of: the release found a hold that reserved nothing.
        when w.status = 'abandoned' and h.state = 'refused' then (w.player_id, w.amount) is distinct from (h.owner_id, h.amount)
        else (${holdOfStatus}, w.player_id) is distinct from (h.state, h.owner_id) or w.currency <> h.currency
          or (h.amount is distinct from w.amount and not (w.status = 'abandoned' and (h.amount is null or h.reference is null)))
      end and ${isFinished(sql`w.id`)}
    `,
  },
  {
    kind: 'hold',
    differences: (keys) => sql`
      select k.key, h.brand_id, h.reference as subject, 'no hold: there is no such withdrawal' as expected,
        format('a hold that is %s, of %s %s on %s', h.state, h.amount, a.currency, a.owner_id) as actual,
        'A withdrawal and its hold do not agree (minor units).' as explanation
      from ${holdsOf(keys)}
      left join wallet.account a on a.id = h.account_id
      cross join lateral ${comparable('h')} r
      left join payments.reconcilable_withdrawal w on w.id = r.reference and w.brand_id = r.brand_id
      where h.state in ('open', 'captured') and w.id is null
    `,
  },
)

/** Up to which amount, in minor units, one person could approve withdrawals in production and pay them, and when. */
export interface PayAlone {
  /** Times as PostgreSQL reads them: a setting may hold since ever and for ever. */
  readonly begins: string
  readonly ends: string
  readonly upTo: bigint
}

/** The largest of the amounts that held at a moment. */
const payAloneAt = (payAlone: readonly PayAlone[], at: Fragment) => sql`(
  select max(up_to) from ${sql.unnest('held', payAlone, 'begins timestamptz, ends timestamptz, up_to bigint')}
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
