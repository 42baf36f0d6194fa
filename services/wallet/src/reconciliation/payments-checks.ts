import { type Fragment, sql } from '@backoffice/service-runtime'
import { sqlCheck } from './check.ts'

// Records with an unfinished command to the wallet are left out here: the check of what is in flight lists them.
const isFinished = (id: Fragment) => sql`not exists (
  select from payments.outbox o where o.aggregate = ${id} and o.kind = 'command' and o.done_at is null)`

/** A confirmed deposit has exactly its transfer; no other deposit has one. */
export const deposits = sqlCheck('deposits', {
  compared: sql`select count(*) from payments.deposit`,
  differences: sql`
    select coalesce(d.brand_id, t.brand_id) as brand_id, coalesce(d.id, t.reference) as subject,
      case when d.id is null then 'no credit: there is no such deposit' when d.status <> 'confirmed' then 'no credit: it is ' || d.status
        else format('%s %s to %s', d.amount, d.currency, d.player_id) end as expected,
      case when t.id is null then 'no credit' else format('%s %s to %s', t.amount, t.currency, t.owner_id) end as actual,
      'A deposit and the ledger do not agree (minor units).' as explanation
    from payments.deposit d
    full join (
      select t.*, a.owner_id, a.currency from wallet.transfer t join wallet.account a on a.id = t.credit_account
      where t.type = 'DEPOSIT' and t.outcome = 'posted'
    ) t on t.reference = d.id and t.brand_id = d.brand_id
    where case
      when d.id is null then true
      when d.status = 'confirmed' then (d.amount, d.currency, d.player_id) is distinct from (t.amount, t.currency, t.owner_id)
      else t.id is not null
    end and ${isFinished(sql`d.id`)}
  `,
})

/** The state of the hold that belongs to each status of a withdrawal. */
const holdOfStatus = sql`case w.status
  when 'under_review' then 'open' when 'approved' then 'open' when 'paid' then 'captured'
  when 'rejected' then 'released' when 'cancelled' then 'released' when 'failed' then 'released' when 'abandoned' then 'released'
  when 'refused' then 'refused' end`

/**
 * A withdrawal's hold has the state that belongs to its status, and no open or captured hold is without a withdrawal.
 * Intents are listed as in flight.
 */
export const withdrawals = sqlCheck('withdrawals', {
  compared: sql`select count(*) from payments.withdrawal`,
  differences: sql`
    select coalesce(w.brand_id, h.brand_id) as brand_id, coalesce(w.id, h.reference) as subject,
      case when w.id is null then 'no hold: there is no such withdrawal'
        else format('a hold that is %s, of %s %s on %s (it is %s)', ${holdOfStatus}, w.amount, w.currency, w.player_id, w.status) end as expected,
      case when h.reference is null then 'no hold'
        else format('a hold that is %s, of %s %s on %s', h.state, h.amount, h.currency, h.owner_id) end as actual,
      'A withdrawal and its hold do not agree (minor units).' as explanation
    from payments.withdrawal w
    full join (select h.*, a.owner_id, a.currency from wallet.hold h join wallet.account a on a.id = h.account_id) h
      on h.reference = w.id and h.brand_id = w.brand_id
    where case
      when w.id is null then h.state in ('open', 'captured')
      when w.status = 'intent' then false
      -- Refused without a hold: the wallet was never reached. Released without an amount: the release came first.
      when w.status = 'refused' then h.state in ('open', 'captured')
      -- Abandoned before its refusal was heard of: the release found a hold that reserved nothing.
      when w.status = 'abandoned' and h.state = 'refused' then (w.player_id, w.amount) is distinct from (h.owner_id, h.amount)
      else (${holdOfStatus}, w.player_id) is distinct from (h.state, h.owner_id) or w.currency <> h.currency
        or (h.amount is distinct from w.amount and not (w.status = 'abandoned' and (h.amount is null or h.reference is null)))
    end and ${isFinished(sql`w.id`)}
  `,
})
