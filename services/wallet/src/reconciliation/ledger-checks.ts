import type { LedgerType } from '@backoffice/contracts'
import { sql, unnest } from '@backoffice/service-runtime'
import type { SystemAccountKind } from '../domain/posting.ts'
import { sqlCheck } from './check.ts'

/** Balances, entry counts and chain heads of players against their entries, and what is held against the open holds. */
export const balances = sqlCheck('balances', {
  compared: sql`select count(*) from wallet.account where kind = 'player'`,
  differences: sql`
    with entered as (
      select account_id, sum(amount) as amount, count(*) as entries from wallet.entry where seq is not null group by account_id
    ), reserved as (
      select account_id, sum(amount) as amount from wallet.hold where state = 'open' group by account_id
    )
    select a.brand_id, a.owner_id as subject,
      format('posted %s, held %s, entries %s', coalesce(e.amount, 0), coalesce(r.amount, 0), coalesce(e.entries, 0)) as expected,
      format('posted %s, held %s, entries %s', a.posted, a.held, a.seq)
        || case when a.head is distinct from coalesce(last.hash, a.genesis) then ', another head' else '' end as actual,
      'The account does not agree with its entries and open holds (minor units).' as explanation
    from wallet.account a
    left join entered e on e.account_id = a.id
    left join reserved r on r.account_id = a.id
    left join wallet.entry last on last.account_id = a.id and last.seq = a.seq
    where a.kind = 'player' and (
      a.posted <> coalesce(e.amount, 0) or a.held <> coalesce(r.amount, 0) or a.seq <> coalesce(e.entries, 0)
      or a.head is distinct from coalesce(last.hash, a.genesis))
  `,
})

/** Every transfer has its two entries, of its amount and between accounts of its brand and one currency. */
export const transfers = sqlCheck('transfers', {
  compared: sql`select count(*) from wallet.transfer`,
  differences: sql`
    with sides as (
      select transfer_id, count(*) as entries, sum(amount) as net,
        count(*) filter (where seq is not null) as guarded,
        min(amount) as debited, max(amount) as credited,
        min(account_id) filter (where amount < 0) as debit_account, min(account_id) filter (where amount > 0) as credit_account
      from wallet.entry group by transfer_id
    )
    select coalesce(t.brand_id, '?') as brand_id, coalesce(t.id, s.transfer_id) as subject,
      case when t.id is null then 'a transfer'
        when t.outcome <> 'posted' then 'no entries'
        else format('debit %s, credit %s, amount %s', t.debit_account, t.credit_account, t.amount) end as expected,
      case when s.transfer_id is null then 'no entries'
        else format('debit %s, credit %s, amount %s/%s, entries %s', s.debit_account, s.credit_account, s.debited, s.credited, s.entries) end as actual,
      'A transfer and its entries do not agree.' as explanation
    from wallet.transfer t
    full join sides s on s.transfer_id = t.id
    left join wallet.account d on d.id = t.debit_account
    left join wallet.account c on c.id = t.credit_account
    where case
      when t.id is null then true
      when t.outcome <> 'posted' then s.transfer_id is not null
      else s.transfer_id is null or s.entries <> 2 or s.guarded <> 1 or s.net <> 0 or s.credited <> t.amount
        or s.debit_account is distinct from t.debit_account or s.credit_account is distinct from t.credit_account
        or d.brand_id is distinct from t.brand_id or c.brand_id is distinct from t.brand_id
        or d.currency is distinct from c.currency
    end
  `,
})

/** Debits equal credits: all entries of a brand's currency sum to zero. */
export const sums = sqlCheck('sums', {
  compared: sql`select count(distinct (brand_id, currency)) from wallet.account`,
  differences: sql`
    select a.brand_id, a.currency as subject, '0' as expected, sum(e.amount)::text as actual,
      'All entries of a currency must sum to zero (minor units).' as explanation
    from wallet.entry e join wallet.account a on a.id = e.account_id group by a.brand_id, a.currency having sum(e.amount) <> 0
  `,
})

type Side = 'player' | SystemAccountKind

/** From which kind of account to which a transfer of each type goes. A reversal goes where the check `reversals` says. */
const waysOfTypes: Readonly<Record<Exclude<LedgerType, 'REVERSAL'>, readonly (readonly [Side, Side])[]>> = {
  DEPOSIT: [['deposits', 'player']],
  WITHDRAWAL: [['player', 'withdrawals']],
  ADJUSTMENT: [
    ['adjustments', 'player'],
    ['player', 'adjustments'],
  ],
}
const ways = Object.entries(waysOfTypes).flatMap(([type, pairs]) =>
  pairs.map(([debit, credit]) => ({ type, debit, credit })),
)

/** The brand's side of a transfer is the system account that belongs to its type. */
export const counterparties = sqlCheck('counterparties', {
  compared: sql`select count(*) from wallet.transfer where outcome = 'posted' and type <> 'REVERSAL'`,
  differences: sql`
    with way as (select type, debit, credit from ${unnest('given', ways, 'type text, debit text, credit text')})
    select t.brand_id, t.id as subject,
      (select string_agg(format('%s to %s', debit, credit), ' or ') from way where way.type = t.type) as expected,
      format('%s to %s', d.kind, c.kind) as actual,
      format('A transfer of type %s is between the wrong kinds of accounts.', t.type) as explanation
    from wallet.transfer t
    left join wallet.account d on d.id = t.debit_account
    left join wallet.account c on c.id = t.credit_account
    left join way on (way.type, way.debit, way.credit) = (t.type, d.kind, c.kind)
    where t.outcome = 'posted' and t.type <> 'REVERSAL' and way.type is null
  `,
})

/**
 * Every adjustment and reversal is one that a person of the team made, for the reason and amount that the audit trail
 * says, and the other way round.
 */
export const corrections = sqlCheck('corrections', {
  compared: sql`select count(*) from wallet.transfer where outcome = 'posted' and type in ('ADJUSTMENT', 'REVERSAL')`,
  differences: sql`
    with posted as (
      select t.brand_id, t.id, t.reference, t.reason, case t.type when 'ADJUSTMENT' then 'adjustWallet' else 'reverseTransfer' end as operation,
        case t.type when 'ADJUSTMENT' then coalesce(c.owner_id, d.owner_id) else t.reverses end as subject,
        case when t.type = 'ADJUSTMENT' then case when c.owner_id is null then -t.amount else t.amount end end as amount
      from wallet.transfer t
      left join wallet.account d on d.id = t.debit_account
      left join wallet.account c on c.id = t.credit_account
      where t.outcome = 'posted' and t.type in ('ADJUSTMENT', 'REVERSAL')
    ), audited as (
      select id, actor, operation, operation_id, reason, input ->> 'reference' as reference,
        -- The team may name a transfer by the ledger item that it made.
        case operation when 'adjustWallet' then subject else regexp_replace(subject, '^led_', 'trf_') end as subject,
        -- A text that is no amount is a difference, and must not end the run.
        case when operation = 'adjustWallet' and input ->> 'amount' ~ '^-?\\d{1,13}(\\.\\d{1,2})?$'
          then ((input ->> 'amount')::numeric * 100)::bigint end as amount
      from wallet.audit_entry where operation in ('adjustWallet', 'reverseTransfer')
    )
    select p.brand_id, coalesce(p.id, a.id) as subject,
      case when a.id is null then 'an audit entry'
        else format('%s by %s (operation %s): %s %s, %s', a.operation, a.actor, a.operation_id, a.subject, a.amount, a.reason) end as expected,
      case when p.id is null then 'no transfer'
        else format('%s %s, %s (reference %s)', p.subject, p.amount, p.reason, p.reference) end as actual,
      'An adjustment or reversal and the audit trail do not agree (minor units).' as explanation
    from posted p
    full join audited a on a.operation = p.operation and a.reference = p.reference and a.subject = p.subject
    where p.id is null or a.id is null or (p.amount, p.reason) is distinct from (a.amount, a.reason)
      or a.actor = '' or a.operation_id = ''
  `,
})

/** A reversal takes back the amount of the transfer it names, between the same accounts. */
export const reversals = sqlCheck('reversals', {
  compared: sql`select count(*) from wallet.transfer where type = 'REVERSAL'`,
  differences: sql`
    select r.brand_id, r.id as subject,
      coalesce(format('%s of %s, %s to %s', t.amount, t.brand_id, t.credit_account, t.debit_account), 'a posted transfer') as expected,
      format('%s of %s, %s to %s', r.amount, r.brand_id, r.debit_account, r.credit_account) as actual,
      'A reversal does not take back exactly what it names.' as explanation
    from wallet.transfer r left join wallet.transfer t on t.id = r.reverses and t.outcome = 'posted'
    where r.type = 'REVERSAL' and (r.amount, r.brand_id, r.debit_account, r.credit_account)
      is distinct from (t.amount, t.brand_id, t.credit_account, t.debit_account)
  `,
})

/** A captured hold has the withdrawal's transfer, of its amount; a withdrawal's transfer has its hold. */
export const holds = sqlCheck('holds', {
  compared: sql`select count(*) from wallet.hold`,
  differences: sql`
    select coalesce(h.brand_id, t.brand_id) as brand_id, coalesce(h.reference, t.reference) as subject,
      case when h.state = 'captured' then format('transfer %s of %s', h.transfer_id, h.amount)
        when t.id is null then null else 'a captured hold' end as expected,
      case when t.id is null then 'no transfer' else format('transfer %s of %s', t.id, t.amount) end as actual,
      'A captured hold and its transfer do not agree (minor units).' as explanation
    from (select * from wallet.hold where state = 'captured') h
    full join (select * from wallet.transfer where type = 'WITHDRAWAL' and outcome = 'posted') t
      on t.brand_id = h.brand_id and t.reference = h.reference
    where h.reference is null or t.id is null or t.id <> h.transfer_id or t.amount <> h.amount or t.debit_account <> h.account_id
  `,
})

/** A checkpoint is the sum of the entries it stands for. */
export const checkpoints = sqlCheck('checkpoints', {
  compared: sql`select count(*) from wallet.system_checkpoint`,
  differences: sql`
    select a.brand_id, format('%s account %s', a.kind, a.id) as subject,
      format('%s from %s entries', s.balance, s.entries) as expected,
      format('%s from %s entries', p.balance, p.entries) as actual,
      'A checkpoint of a system account is not the sum of its entries (minor units).' as explanation
    from wallet.system_checkpoint p
    join wallet.account a on a.id = p.account_id
    cross join lateral (
      select coalesce(sum(e.amount), 0) as balance, count(*) as entries
      from wallet.entry e where e.account_id = p.account_id and e.seq is null and e.xid < p.below
    ) s
    where (s.balance, s.entries) is distinct from (p.balance, p.entries)
  `,
})
