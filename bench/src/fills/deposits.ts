import type { Subject } from '../stack/subject.ts'

/**
 * Records the deposits of credits that were sent to the wallet alone. Reconciliation expects a confirmed deposit for each
 * credit and would report those that are missing.
 */
export async function recordDeposits(subject: Subject): Promise<void> {
  const { brandId, operatorId, environment, timeZone } = subject.scope
  await subject.withSql((client) =>
    client.query(
      `insert into payments.deposit (id, brand_id, operator_id, environment, time_zone, player_id, external_reference,
         amount, currency, method, status, version, created_at, confirmed_at)
       select t.reference, t.brand_id, $2, $3, $4, a.owner_id, t.reference, t.amount, a.currency, 'bench', 'confirmed', 2,
         t.created_at, t.created_at
       from wallet.transfer t join wallet.account a on a.id = t.credit_account
       where t.brand_id = $1 and t.type = 'DEPOSIT' and t.outcome = 'posted'
         and not exists (select from payments.deposit d where d.id = t.reference)`,
      [brandId, operatorId, environment, timeZone],
    ),
  )
}
