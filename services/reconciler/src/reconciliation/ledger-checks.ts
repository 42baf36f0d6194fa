import type { LedgerType } from '@backoffice/contracts'
import { type Fragment, sql } from '@backoffice/service-runtime'
import { sqlCheck } from './check.ts'

/** Every transfer has its two entries, of its amount and between accounts of its brand and one currency. */
export const transfers = sqlCheck('transfers', {
  ...{ kind: 'transfer', plain: true },
  differences: (keys) => sql`
    select k.key, coalesce(t.brand_id, '?') as brand_id, k.key as subject,
      case when t.id is null then 'a transfer'
        when t.outcome <> 'posted' then 'no entries'
        else format('debit %s, credit %s, amount %s', t.debit_account, t.credit_account, t.amount) end as expected,
      case when s.entries = 0 then 'no entries'
        else format('debit %s, credit %s, amount %s/%s, entries %s', s.debit_account, s.credit_account, s.debited, s.credited, s.entries) end as actual,
      'A transfer and its entries do not agree.' as explanation
    from ${keys}
    left join wallet.transfer t on t.id = k.key
    cross join lateral (
      select count(*) as entries, sum(amount) as net,
        count(*) filter (where seq is not null) as guarded,
        min(amount) as debited, max(amount) as credited,
        min(account_id) filter (where amount < 0) as debit_account, min(account_id) filter (where amount > 0) as credit_account
      from wallet.entry where transfer_id = k.key
    ) s
    left join wallet.account d on d.id = t.debit_account
    left join wallet.account c on c.id = t.credit_account
    where case
      when t.id is null or t.outcome <> 'posted' then s.entries > 0
      else s.entries <> 2 or s.guarded <> 1 or s.net <> 0 or s.credited <> t.amount
        or s.debit_account is distinct from t.debit_account or s.credit_account is distinct from t.credit_account
        or d.brand_id is distinct from t.brand_id or c.brand_id is distinct from t.brand_id
        or d.currency is distinct from c.currency
    end
  `,
})

type Side = 'player' | 'deposits' | 'withdrawals' | 'adjustments' | 'play' | 'jackpots' | 'promotions'

/** From which kind of account to which a transfer of each type goes. A reversal goes where the check `reversals` says. */
const waysOfTypes: Readonly<Record<Exclude<LedgerType, 'REVERSAL'>, readonly (readonly [Side, Side])[]>> = {
  DEPOSIT: [['deposits', 'player']],
  WITHDRAWAL: [['player', 'withdrawals']],
  ADJUSTMENT: [
    ['adjustments', 'player'],
    ['player', 'adjustments'],
  ],
  BET: [['player', 'play']],
  WIN: [['play', 'player']],
  ROLLBACK: [['play', 'player']],
  JACKPOT: [['jackpots', 'player']],
  PROMOTION: [['promotions', 'player']],
}
const ways = Object.entries(waysOfTypes).flatMap(([type, pairs]) =>
  pairs.map(([debit, credit]) => ({ type, debit, credit })),
)

/** The brand's side of a transfer is the system account that belongs to its type. */
export const counterparties = sqlCheck('counterparties', {
  ...{ kind: 'transfer', plain: true },
  of: ({ type, isPosted }) => isPosted && type !== 'REVERSAL',
  differences: (keys) => sql`
    select k.key, t.brand_id, t.id as subject,
      (select string_agg(format('%s to %s', debit, credit), ' or ')
        from ${sql.unnest('way', ways, 'type text, debit text, credit text')} where way.type = t.type) as expected,
      format('%s to %s', d.kind, c.kind) as actual,
      format('A transfer of type %s is between the wrong kinds of accounts.', t.type) as explanation
    from ${keys}
    join wallet.transfer t on t.id = k.key
    left join wallet.account d on d.id = t.debit_account
    left join wallet.account c on c.id = t.credit_account
    where not exists (
      select from ${sql.unnest('way', ways, 'type text, debit text, credit text')}
      where (way.type, way.debit, way.credit) = (t.type, d.kind, c.kind)
    )
  `,
})

/** What the team did to the ledger, as `a`, as the audit trail says it. */
const audited = sql`
  select id, at, actor, operation, operation_id, reason, reconciler.json_text(input, 'reference') as reference,
    -- The team may name a transfer by the ledger item that it made.
    case operation when 'adjustWallet' then subject else regexp_replace(subject, '^led_', 'trf_') end as subject,
    -- A text that is no amount is a difference, and must not end the run.
    case when operation = 'adjustWallet' and reconciler.json_text(input, 'amount') ~ '^-?\\d{1,13}(\\.\\d{1,2})?$'
      then (reconciler.json_text(input, 'amount')::numeric * 100)::bigint end as amount
  from wallet.reconcilable_audit
  -- Refusals and proposals are in the trail too.
  where operation in ('adjustWallet', 'reverseTransfer') and outcome = 'done'
`

const isOfCorrection = sql`(a.operation, a.reference, a.subject) = (p.operation, p.reference, p.subject)`

/**
 * Corrections as `p`, each with its audit entry as `a`. Both are written in one transaction, so the entry is looked for
 * around the transfer's time, which an index finds, and elsewhere only when it is not there.
 */
export const withAudit = (keys: Fragment) => sql`
  (
    select k.key, t.brand_id, t.id, t.reference, t.reason, t.created_at,
      case t.type when 'ADJUSTMENT' then 'adjustWallet' else 'reverseTransfer' end as operation,
      case t.type when 'ADJUSTMENT' then coalesce(c.owner_id, d.owner_id) else t.reverses end as subject,
      case when t.type = 'ADJUSTMENT' then case when c.owner_id is null then -t.amount else t.amount end end as amount
    from ${keys}
    join wallet.transfer t on t.id = k.key
    left join wallet.account d on d.id = t.debit_account
    left join wallet.account c on c.id = t.credit_account
  ) p
  left join lateral (
    select a.* from (${audited}) a
    where a.at between p.created_at - interval '1 minute' and p.created_at + interval '1 minute' and ${isOfCorrection}
    union all select a.* from (${audited}) a where ${isOfCorrection}
    limit 1
  ) a on true
`

/** Why it was asked for: where two people made it, whoever carried it out gave a reason of their own. */
const asked = sql`
  left join lateral (
    select coalesce(c.proposal #>> '{proposed,reason}', c.reason) as reason from wallet.reconcilable_correction c where c.id = a.id
  ) asked on true
`

/**
 * Every adjustment and reversal is one that a person of the team made, for the reason and amount that the audit trail
 * says, and the other way round.
 */
export const corrections = sqlCheck(
  'corrections',
  {
    ...{ kind: 'transfer', plain: true },
    of: ({ type, isPosted }) => isPosted && (type === 'ADJUSTMENT' || type === 'REVERSAL'),
    differences: (keys) => sql`
      select p.key, p.brand_id, p.id as subject,
        case when a.id is null then 'an audit entry'
          else format('%s by %s (operation %s): %s %s, %s', a.operation, a.actor, a.operation_id, a.subject, a.amount, asked.reason) end as expected,
        format('%s %s, %s (reference %s)', p.subject, p.amount, p.reason, p.reference) as actual,
        'An adjustment or reversal and the audit trail do not agree (minor units).' as explanation
      from ${withAudit(keys)} ${asked}
      where a.id is null or (p.amount, p.reason) is distinct from (a.amount, asked.reason)
        or a.actor = '' or a.operation_id = ''
    `,
  },
  {
    kind: 'walletAudit',
    differences: (keys) => sql`
      select k.key, null as brand_id, a.id as subject,
        format('%s by %s (operation %s): %s %s, %s', a.operation, a.actor, a.operation_id, a.subject, a.amount, a.reason) as expected,
        'no transfer' as actual,
        'An adjustment or reversal and the audit trail do not agree (minor units).' as explanation
      from ${keys}
      cross join lateral (select a.* from (${audited}) a where a.id = k.key limit 1) a
      where not exists (
        select from wallet.account o join wallet.transfer t on t.brand_id = o.brand_id and t.reference = a.reference
        where a.operation = 'adjustWallet' and o.owner_id = a.subject and t.type = 'ADJUSTMENT' and t.outcome = 'posted'
          and o.id in (t.debit_account, t.credit_account)
      ) and not exists (
        select from wallet.transfer t
        where a.operation = 'reverseTransfer' and t.reverses = a.subject and t.outcome = 'posted' and t.reference = a.reference
      )
    `,
  },
)

/** A reversal, and the rollback of a bet, takes back the amount of the transfer it names, between the same accounts. */
export const reversals = sqlCheck('reversals', {
  ...{ kind: 'transfer', plain: true },
  of: ({ type }) => type === 'REVERSAL' || type === 'ROLLBACK',
  differences: (keys) => sql`
    select k.key, r.brand_id, r.id as subject,
      coalesce(format('%s of %s, %s to %s', t.amount, t.brand_id, t.credit_account, t.debit_account), 'a posted transfer') as expected,
      format('%s of %s, %s to %s', r.amount, r.brand_id, r.debit_account, r.credit_account) as actual,
      'A reversal does not take back exactly what it names.' as explanation
    from ${keys}
    join wallet.transfer r on r.id = k.key
    left join wallet.transfer t on t.id = r.reverses and t.outcome = 'posted'
    where (r.type = 'ROLLBACK' and t.type <> 'BET') or (r.amount, r.brand_id, r.debit_account, r.credit_account)
      is distinct from (t.amount, t.brand_id, t.credit_account, t.debit_account)
  `,
})

/** The holds of some keys, as `h`. */
export const holdsOf = (keys: Fragment) => sql`
  ${keys} join wallet.hold h on (h.brand_id, h.reference) = (k.key::json ->> 0, k.key::json ->> 1)
`

/** A captured hold has the withdrawal's transfer, of its amount; a withdrawal's transfer has its hold. */
export const holds = sqlCheck(
  'holds',
  {
    kind: 'hold',
    differences: (keys) => sql`
      select k.key, h.brand_id, h.reference as subject, format('transfer %s of %s', h.transfer_id, h.amount) as expected,
        case when t.id is null then 'no transfer' else format('transfer %s of %s', t.id, t.amount) end as actual,
        'A captured hold and its transfer do not agree (minor units).' as explanation
      from ${holdsOf(keys)}
      left join wallet.transfer t on t.brand_id = h.brand_id and t.reference = h.reference
        and t.type = 'WITHDRAWAL' and t.outcome = 'posted'
      where h.state = 'captured'
        and (t.id is null or t.id <> h.transfer_id or t.amount <> h.amount or t.debit_account <> h.account_id)
    `,
  },
  {
    ...{ kind: 'transfer', plain: true },
    of: ({ type, isPosted }) => isPosted && type === 'WITHDRAWAL',
    differences: (keys) => sql`
      select k.key, t.brand_id, t.reference as subject, 'a captured hold' as expected,
        format('transfer %s of %s', t.id, t.amount) as actual,
        'A captured hold and its transfer do not agree (minor units).' as explanation
      from ${keys}
      join wallet.transfer t on t.id = k.key
      left join wallet.hold h on h.brand_id = t.brand_id and h.reference = t.reference and h.state = 'captured'
      where h.reference is null
    `,
  },
)
