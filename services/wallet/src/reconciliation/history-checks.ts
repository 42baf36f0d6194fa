import type { DepositStatus, WithdrawalStatus } from '@backoffice/contracts'
import { dayMs, eventsKeepMsMin, sql, unnest } from '@backoffice/service-runtime'
import { sqlCheck } from './check.ts'

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

const records = sql`
  select 'deposit' as kind, id, brand_id, operator_id, environment, player_id, amount, status, version, null as approved_by
    from payments.deposit
  union all
  select 'withdrawal', id, brand_id, operator_id, environment, player_id, amount, status, version, approved_by
    from payments.withdrawal
`

/**
 * The history of a deposit or withdrawal is complete, each step is allowed, and it ends in the record's status and
 * version. An intent, and what an intent came to without becoming a withdrawal, has none.
 */
export const histories = sqlCheck('histories', {
  compared: sql`select count(*) from payments.status_transition`,
  differences: sql`
    with history as (
      select record_id, min(version) as first, max(version) as last, count(*) as steps,
        string_agg(concat(from_status || ' → ', to_status), ', ' order by version) as way
      from payments.status_transition group by record_id
    )
    select r.brand_id, coalesce(r.id, h.record_id) as subject,
      case when r.id is null then 'no history: there is no such record'
        else format('%s (version %s)', coalesce(w.way, 'no history: it is ' || r.status), r.version) end as expected,
      case when h.record_id is null then 'no history'
        else format('%s (versions %s to %s, %s in all)', h.way, h.first, h.last, h.steps) end as actual,
      'The history of a deposit or withdrawal does not lead to its status and version.' as explanation
    from (${records}) r
    full join history h on h.record_id = r.id
    left join payments.ended_command e on e.deposit_id = r.id
    left join ${unnest('w', [...ways, endedWay], 'kind text, status text, way text, ended bool')}
      on w.kind = r.kind and w.status = r.status and w.ended = (e.deposit_id is not null)
    where r.id is null or h.way is distinct from w.way
      or (coalesce(h.first, 1), coalesce(h.last, 0), coalesce(h.steps, 0)) is distinct from (1, r.version, r.version)
  `,
})

/**
 * Every decision of the team is in the audit trail, made by the same person, and the other way round. In production only
 * the team decides, and whoever approved a withdrawal does not pay it. Two people gave up a deposit's credit.
 */
export const decisions = sqlCheck('decisions', {
  compared: sql`select count(*) from payments.status_transition where version > 1`,
  differences: sql`
    with audited as (
      select id, actor, operation_id, subject,
        case input ->> 'decision' when 'approve' then 'approved' when 'reject' then 'rejected' when 'pay' then 'paid'
          when 'fail' then 'failed' end as status
      from payments.audit_entry where operation = 'decideWithdrawal'
      union all
      -- Who gave a credit up, after somebody else had proposed it within a day.
      select done.id, done.actor, done.operation_id, e.deposit_id, 'failed'
      from payments.ended_command e
      join payments.audit_entry done on (done.operation_id, done.operation, done.subject, done.actor)
        = (e.operation_id, 'endCommand', e.command_id, e.ended_by)
      join payments.audit_entry proposed on (proposed.operation_id, proposed.operation, proposed.subject, proposed.actor)
        = (e.proposal_operation_id, 'endCommand', e.command_id, e.proposed_by)
      where proposed.actor <> done.actor and done.at < proposed.at + interval '1 day'
    ), decided as (
      select r.brand_id, s.record_id, s.to_status, s.by_kind, s.by_name, s.operation_id, r.environment, r.approved_by,
        r.kind = 'withdrawal' and s.to_status in ('approved', 'rejected', 'paid', 'failed') as by_review,
        format('%s %s', approval.by_kind, approval.by_name) as approver
      from payments.status_transition s
      left join (${records}) r on r.id = s.record_id
      left join payments.status_transition approval
        on approval.record_id = s.record_id and approval.to_status = 'approved' and s.to_status = 'paid'
    ), judged as (
      select d.*, a.id as audit_id, a.actor, a.subject as audited_subject, a.status as audited_status, case
        when d.record_id is null then 'The audit trail names a decision that was not made.'
        when d.by_kind = 'team' and a.id is null then 'A decision of the team is not in the audit trail.'
        when d.by_kind = 'team' and ((a.actor, a.subject) is distinct from (d.by_name, d.record_id)
          or a.status is distinct from d.to_status
          -- In the sandbox the payment of a certain amount fails.
          and (d.environment, a.status, d.to_status) is distinct from ('sandbox', 'paid', 'failed'))
          then 'A decision is not the one that the audit trail names.'
        when d.by_review and d.by_kind = 'operator' or d.environment = 'production' and d.by_kind = 'sandbox'
          then 'Somebody decided who may not.'
        when d.environment = 'production' and d.approver = 'team ' || d.by_name then 'One person approved a withdrawal and paid it.'
        when d.to_status = 'approved' and d.approved_by is distinct from case when d.by_kind = 'team' then d.by_name end
          then 'A withdrawal names an approver who did not approve it.'
        end as explanation
      from decided d
      full join audited a on a.operation_id = d.operation_id and d.by_kind = 'team'
    )
    select brand_id, coalesce(record_id, audited_subject) as subject,
      case when record_id is null then 'no audit entry'
        when audit_id is not null then format('audited: %s is %s by %s', audited_subject, audited_status, actor)
        when by_kind = 'team' then 'an audit entry' else 'a decision of the team' end as expected,
      case when record_id is null then format('audited: %s is %s by %s', audited_subject, audited_status, actor)
        else format('%s is %s by %s %s', record_id, to_status, by_kind, by_name) end
        || coalesce(', approved by ' || approved_by, '') as actual,
      explanation
    from judged where explanation is not null
  `,
})

/** A day less than an event is kept at least, because clocks and the purge do not keep time to the second. */
const eventsKeptSeconds = (eventsKeepMsMin - dayMs) / 1_000

/** Events that were published, and those that wait for it. */
const keptEvents = sql`(
  select message -> 'event' as event from payments.published_event
  union all
  select message -> 'event' from payments.outbox where kind = 'event'
) as kept`

/**
 * Operators were told of every confirmed deposit and of every change of a withdrawal, and of nothing else, as long as
 * the events are kept.
 */
export const events = sqlCheck('events', {
  compared: sql`select count(*) from ${keptEvents}`,
  differences: sql`
    with told as (
      select event ->> 'id' as id, coalesce(event #>> '{data,id}', event ->> 'id') as aggregate, event ->> 'brandId' as brand_id,
        event #>> '{data,version}' as version,
        format('%s: %s of %s, brand %s %s %s', event ->> 'type', event #>> '{data,status}', event #>> '{data,amount}',
          event ->> 'brandId', event ->> 'environment', event #>> '{data,playerId}') as content
      from ${keptEvents}
    ), done as (
      select r.brand_id, r.id, r.environment, s.version, s.at,
        format('%s: %s of %s, brand %s %s %s', case r.kind when 'deposit' then 'deposit.confirmed' else 'withdrawal.status_changed' end,
          s.to_status, (r.amount / 100) || '.' || lpad((r.amount % 100)::text, 2, '0'), r.brand_id, r.environment, r.player_id) as content
      from payments.status_transition s join (${records}) r on r.id = s.record_id
      where case r.kind
        -- Nobody was told of a confirmation that was taken back.
        when 'deposit' then s.to_status = 'confirmed'
          and not exists (select from payments.ended_command e where e.deposit_id = r.id)
        else s.version > 1 end
    )
    select coalesce(d.brand_id, t.brand_id) as brand_id, coalesce(d.id, t.aggregate) as subject,
      coalesce(d.content, 'no event') as expected, coalesce(t.content, 'no event') as actual,
      'A change and what operators were told of it do not agree.' as explanation
    from done d
    full join told t on t.aggregate = d.id and t.version = d.version::text
    where case
      when d.id is null then true
      when t.id is null then d.at > now() - make_interval(secs => ${eventsKeptSeconds}::float8)
      else t.content <> d.content
    end
  `,
})
