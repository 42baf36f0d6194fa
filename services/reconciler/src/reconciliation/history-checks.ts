import {
  type DepositStatus,
  type EventKind,
  eventsKeepHoursMin,
  type events as eventTable,
  type WithdrawalStatus,
} from '@backoffice/contracts'
import { type Fragment, sql } from '@backoffice/service-runtime'
import type { SqlQuestion } from './check.ts'
import { environmentOf } from './environments.ts'

/**
 * The statuses that lead to each status, as the state machines of payments allow them. They are written down here a
 * second time on purpose: what is judged must not say what is right.
 */
const depositWays: Readonly<Record<DepositStatus, readonly DepositStatus[]>> = {
  pending: [],
  confirmed: ['pending'],
  failed: ['pending'],
}
const withdrawalWays: Readonly<Record<WithdrawalStatus, readonly WithdrawalStatus[]>> = {
  under_review: [],
  approved: ['under_review'],
  rejected: ['under_review'],
  cancelled: ['under_review'],
  paid: ['under_review', 'approved'],
  failed: ['under_review', 'approved'],
}

/** `under_review, under_review → approved`: each step with the status before it. */
function wayTo(status: string, former: readonly string[]): string {
  const statuses = [...former, status]
  return statuses.map((to, index) => (index === 0 ? to : `${statuses[index - 1]} → ${to}`)).join(', ')
}

const ways = [
  ...Object.entries(depositWays).map(([status, former]) => ({ kind: 'deposit', status, way: wayTo(status, former) })),
  ...Object.entries(withdrawalWays).map(([status, former]) => ({
    ...{ kind: 'withdrawal', status },
    way: wayTo(status, former),
  })),
].map((way) => ({ ...way, ended: false }))
/** A deposit whose credit two people gave up. Nothing else takes a confirmation back. */
const endedWay = { kind: 'deposit', status: 'failed', way: wayTo('failed', ['pending', 'confirmed']), ended: true }

/** The records of some keys, as `r`, and of a deposit whose credit was given up the ended command, as `e`. */
const recordsOf = (kind: 'deposit' | 'withdrawal', keys: Fragment): Fragment => sql`
  ${keys}
  join (
    select '${sql.fixed(kind)}' as kind, id, brand_id, environment, player_id, amount, status, version,
      ${kind === 'deposit' ? sql`null as approved_by, null as approved_by_id` : sql`approved_by, approved_by_id`}
    from payments.reconcilable_${sql.fixed(kind)}
  ) r on r.id = k.key
  left join payments.reconcilable_ended_command e on e.deposit_id = r.id
`

/** The same question about deposits and about withdrawals, which both count, and others, which do not. */
const recordCheck = (
  check: string,
  differences: (records: Fragment) => Fragment,
  ...others: readonly Omit<SqlQuestion, 'check' | 'counts'>[]
): readonly SqlQuestion[] => [
  ...(['deposit', 'withdrawal'] as const).map(
    (kind): SqlQuestion => ({
      ...{ check, kind, counts: true, plain: true },
      differences: (keys) => differences(recordsOf(kind, keys)),
    }),
  ),
  ...others.map((other) => ({ check, counts: false, ...other })),
]

/** The way that a record has gone, as `h`. */
const historyOf = (id: Fragment) => sql`(
  select min(version) as first, max(version) as last, count(*) as steps,
    string_agg(concat(from_status || ' → ', to_status), ', ' order by version) as way
  from payments.reconcilable_transition where record_id = ${id}
) h`

/**
 * The history of a deposit or withdrawal is complete, each step is allowed, and it ends in the record's status and
 * version. An intent, and what an intent came to without becoming a withdrawal, has none.
 */
export const histories = recordCheck(
  'histories',
  (records) => sql`
    select r.id as key, r.brand_id, r.id as subject,
      format('%s (version %s)', coalesce(w.way, 'no history: it is ' || r.status), r.version) as expected,
      case when h.steps = 0 then 'no history'
        else format('%s (versions %s to %s, %s in all)', h.way, h.first, h.last, h.steps) end as actual,
      'The history of a deposit or withdrawal does not lead to its status and version.' as explanation
    from ${records}
    cross join lateral ${historyOf(sql`r.id`)}
    left join ${sql.unnest('w', [...ways, endedWay], 'kind text, status text, way text, ended bool')}
      on w.kind = r.kind and w.status = r.status and w.ended = (e.deposit_id is not null)
    where h.way is distinct from w.way
      or (coalesce(h.first, 1), coalesce(h.last, 0), h.steps) is distinct from (1, r.version, r.version)
  `,
  {
    kind: 'history',
    differences: (keys) => sql`
      select k.key, null as brand_id, k.key as subject, 'no history: there is no such record' as expected,
        format('%s (versions %s to %s, %s in all)', h.way, h.first, h.last, h.steps) as actual,
        'The history of a deposit or withdrawal does not lead to its status and version.' as explanation
      from ${keys}
      cross join lateral ${historyOf(sql`k.key`)}
      where h.steps > 0 and not exists (select from payments.reconcilable_deposit where id = k.key)
        and not exists (select from payments.reconcilable_withdrawal where id = k.key)
    `,
  },
)

/** What a decision in the audit trail makes of a withdrawal. */
const decidedStatus = sql`case reconciler.json_text(a.input, 'decision') when 'approve' then 'approved' when 'reject' then 'rejected'
  when 'pay' then 'paid' when 'fail' then 'failed' end`

/** What the trail says of a decision `d` of the team on a withdrawal, and whether an entry `a` is about it. */
const madeBy = sql`a.id as audit_id, a.actor, a.actor_id, a.subject as audited_subject, ${decidedStatus} as audited_status`
const isDecision = sql`d.by_kind = 'team' and a.operation = 'decideWithdrawal' and a.operation_id = d.operation_id
  and a.outcome = 'done'`

/**
 * Every decision of the team is in the audit trail, made by the same person and account, and the other way round. In production only
 * the team decides. Two people gave up a deposit's credit. A decision and its audit entry are written in one transaction, so
 * the entry is looked for around the decision's time, which an index finds, and elsewhere only when it is not there.
 */
export const decisions = recordCheck(
  'decisions',
  (records) => sql`
    select record_id as key, brand_id, record_id as subject,
      case when audit_id is not null then format('audited: %s is %s by %s', audited_subject, audited_status, actor) || coalesce(' ' || actor_id, '')
        when by_kind = 'team' then 'an audit entry' else 'a decision of the team' end as expected,
      format('%s is %s by %s %s', record_id, to_status, by_kind, by_name) || coalesce(' ' || by_id, '')
        || coalesce(', approved by ' || approved_by, '') || coalesce(' ' || approved_by_id, '') as actual,
      explanation
    from (
      select d.*, a.audit_id, a.actor, a.actor_id, a.audited_subject, a.audited_status, case
          when d.by_kind = 'team' and a.audit_id is null then 'A decision of the team is not in the audit trail.'
          when d.by_kind = 'team' and ((a.actor, a.actor_id, a.audited_subject) is distinct from (d.by_name, d.by_id, d.record_id)
            or a.audited_status is distinct from d.to_status
            -- In the sandbox the payment of a certain amount fails.
            and (${environmentOf(sql`d.brand_id`)}, a.audited_status, d.to_status) is distinct from ('sandbox', 'paid', 'failed'))
            then 'A decision is not the one that the audit trail names.'
          when d.by_review and d.by_kind = 'operator' or d.by_kind = 'sandbox' and ${environmentOf(sql`d.brand_id`)} = 'production'
            then 'Somebody decided who may not.'
          when d.to_status = 'approved' and (d.approved_by, d.approved_by_id) is distinct from
            (case when d.by_kind = 'team' then d.by_name end, case when d.by_kind = 'team' then d.by_id end)
            then 'A withdrawal names an approver who did not approve it.'
          end as explanation
      from (
        select r.brand_id, s.record_id, s.to_status, s.at, s.by_kind, s.by_name, s.by_id, s.operation_id, r.environment,
          r.approved_by, r.approved_by_id,
          e.command_id, e.proposed_by, e.proposal_operation_id, e.ended_by, e.operation_id as ending_operation_id,
          r.kind = 'withdrawal' and s.to_status in ('approved', 'rejected', 'paid', 'failed') as by_review
        from ${records}
        join payments.reconcilable_transition s on s.record_id = r.id
      ) d
      left join lateral (
        select ${madeBy} from payments.reconcilable_audit a
        where ${isDecision} and a.at between d.at - interval '1 minute' and d.at + interval '1 minute'
        union all
        -- Who gave a credit up, after somebody else had proposed it within a day.
        select done.id, done.actor, done.actor_id, d.record_id, 'failed'
        from payments.reconcilable_audit done
        join payments.reconcilable_audit proposed
          on (proposed.operation_id, proposed.operation, proposed.subject, proposed.actor)
            = (d.proposal_operation_id, 'endCommand', d.command_id, d.proposed_by)
        where d.by_kind = 'team' and d.ending_operation_id = d.operation_id
          and done.outcome = 'done'
          and proposed.outcome = 'AWAITS_APPROVAL'
          and (done.operation_id, done.operation, done.subject, done.actor)
            = (d.operation_id, 'endCommand', d.command_id, d.ended_by)
          and proposed.actor <> done.actor and proposed.actor_id <> done.actor_id and done.at < proposed.at + interval '1 day'
        union all select ${madeBy} from payments.reconcilable_audit a where ${isDecision}
        limit 1
      ) a on true
    ) judged
    where explanation is not null
  `,
  {
    kind: 'paymentsAudit',
    differences: (keys) => sql`
      select k.key, null as brand_id, named.subject, 'no audit entry' as expected,
        format('audited: %s is %s by %s', named.subject, named.status, a.actor) as actual,
        'The audit trail names a decision that was not made.' as explanation
      from ${keys}
      join payments.reconcilable_audit a on a.id = k.key
      left join payments.reconcilable_ended_command e on e.command_id = a.subject and a.operation = 'endCommand'
        and (e.operation_id, e.ended_by) = (a.operation_id, a.actor)
      cross join lateral (
        select a.subject, ${decidedStatus} where a.operation = 'decideWithdrawal'
        union all select e.deposit_id, 'failed' where e.deposit_id is not null
      ) named (subject, status)
      where a.outcome = 'done' and not exists (
        select from payments.reconcilable_transition s
        where s.record_id = named.subject and s.operation_id = a.operation_id and s.by_kind = 'team'
      )
    `,
  },
)

/** A day less than an event is kept at least, because clocks and the purge do not keep time to the second. */
export const eventsKeptSeconds = (eventsKeepHoursMin - 24) * 3_600

/**
 * What operators were told, by the record that it is about, and what waits to be published. An event of no record is about
 * itself; an index has what it is about.
 */
const told = sql`
  select p.id, p.aggregate, p.brand_id, p.version, p.content from payments.reconcilable_event p
  union all
  select p.id, p.aggregate, p.brand_id, p.version, p.content from payments.reconcilable_waiting_event p
`

type PaymentsEvent = { [K in EventKind]: 'payments' extends (typeof eventTable)[K]['emittedBy'] ? K : never }[EventKind]

/**
 * The steps of which each event of payments tells: `s`, of a record of the kind `r.kind`, whose credit was given up by `e`.
 * What no line here allows is a difference.
 */
const stepsToldBy: Readonly<Record<PaymentsEvent, Fragment>> = {
  // Nobody was told of a confirmation that was taken back.
  'deposit.confirmed': sql`r.kind = 'deposit' and s.to_status = 'confirmed' and e.deposit_id is null`,
  'withdrawal.status_changed': sql`r.kind = 'withdrawal' and s.version > 1`,
}
/** The kind of the event that tells of a step; null if nobody is told. */
const eventOfStep = Object.entries(stepsToldBy).reduce(
  (otherwise, [kind, steps]) => sql`case when ${steps} then ${kind}::text else ${otherwise} end`,
  sql`null`,
)

/**
 * Operators were told of every confirmed deposit and of every change of a withdrawal, and of nothing else, as long as
 * the events are kept.
 */
export const events = recordCheck(
  'events',
  (records) => sql`
    select d.id as key, d.brand_id, d.id as subject, d.content as expected, coalesce(t.content, 'no event') as actual,
      'A change and what operators were told of it do not agree.' as explanation
    from (
      select r.brand_id, r.id, r.environment, s.version, s.at,
        format('%s: %s of %s, brand %s %s %s', told.kind, s.to_status,
          (r.amount / 100) || '.' || lpad((r.amount % 100)::text, 2, '0'), r.brand_id, r.environment, r.player_id) as content
      from ${records}
      join payments.reconcilable_transition s on s.record_id = r.id
      cross join lateral (select ${eventOfStep} as kind) told
      where told.kind is not null
    ) d
    left join lateral (
      select t.* from (${told}) t where t.aggregate = d.id and t.version = d.version::text offset 0
    ) t on true
    where case
      when t.id is null then d.at > now() - make_interval(secs => ${eventsKeptSeconds}::float8)
      else t.content <> d.content
    end
  `,
  {
    kind: 'event',
    differences: (keys) => sql`
      select k.key, t.brand_id, t.aggregate as subject, 'no event' as expected, t.content as actual,
        'A change and what operators were told of it do not agree.' as explanation
      from (select distinct key from ${keys}) k
      cross join lateral (select t.* from (${told}) t where t.aggregate = k.key offset 0) t
      where not exists (
        select from payments.reconcilable_transition s
        join lateral (
          select 'deposit' as kind from payments.reconcilable_deposit where id = s.record_id
          union all select 'withdrawal' from payments.reconcilable_withdrawal where id = s.record_id
        ) r on true
        left join payments.reconcilable_ended_command e on e.deposit_id = s.record_id
        where s.record_id = t.aggregate and s.version::text = t.version and (${eventOfStep}) is not null
      )
    `,
  },
)
