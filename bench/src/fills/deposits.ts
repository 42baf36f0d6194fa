import type { Subject } from '../stack/subject.ts'

/**
 * Records the deposits of credits that were sent to the wallet alone. Reconciliation expects a confirmed deposit with its
 * history for each credit and would report those that are missing. They are of long ago: their events are not kept, so
 * that it expects none.
 */
export async function recordDeposits(subject: Subject): Promise<void> {
  const { brandId, operatorId, environment, timeZone } = subject.scope
  await subject.withSql((client) =>
    client.query(
      `with recorded as (
       insert into payments.deposit (id, brand_id, operator_id, environment, time_zone, player_id, external_reference,
         amount, currency, method, status, version, created_at, confirmed_at)
       select t.reference, t.brand_id, $2, $3, $4, a.owner_id, t.reference, t.amount, a.currency, 'bench', 'confirmed', 2,
         t.created_at - interval '1 year', t.created_at - interval '1 year'
       from wallet.transfer t join wallet.account a on a.id = t.credit_account
       where t.brand_id = $1 and t.type = 'DEPOSIT' and t.outcome = 'posted'
         and not exists (select from payments.deposit d where d.id = t.reference)
       returning id, confirmed_at
       )
       insert into payments.status_transition (record_id, version, from_status, to_status, at, by_kind, by_name, operation_id)
       select id, version, from_status, to_status, confirmed_at, 'operator', $2, id
       from recorded cross join (values (1, null, 'pending'), (2, 'pending', 'confirmed')) as step (version, from_status, to_status)`,
      [brandId, operatorId, environment, timeZone],
    ),
  )
}
