import { type Migration, reconcilableViews, shownToReconciler } from '@backoffice/service-runtime/migrations'

/** What an event tells of a record, in the words in which reconciliation holds it against the record. */
const told = (text: (...path: string[]) => string) => `
    ${text('event', 'brandId')} as brand_id, ${text('event', 'data', 'version')} as version,
    format('%s: %s of %s, brand %s %s %s', ${text('event', 'type')}, ${text('event', 'data', 'status')},
      ${text('event', 'data', 'amount')}, ${text('event', 'brandId')}, ${text('event', 'environment')},
      ${text('event', 'data', 'playerId')}) as content`

const path = (...names: readonly string[]) => `'{${names.join()}}'`
const quoted = (...names: readonly string[]) => names.map((name) => `'${name}'`).join(', ')

/**
 * What reconciliation holds the ledger against, and no more: no destination, no stored reply, no session. Each view is a
 * plain selection, so what reads it is planned as if it read the table.
 */
export const reconcilable: Migration = {
  name: '0023_reconcilable',
  sql: `
${reconcilableViews('payments')}
${shownToReconciler('payments', {
  reconcilable_deposit: `
  select id, brand_id, environment, time_zone, player_id, amount, currency, status, version, created_at from payments.deposit`,
  reconcilable_withdrawal: `
  select id, brand_id, environment, player_id, amount, currency, status, version, created_at, paid_at, approved_by, approved_by_id
  from payments.withdrawal`,
  reconcilable_transition: `
  select record_id, version, from_status, to_status, at, by_kind, by_name, by_id, operation_id from payments.status_transition`,
  reconcilable_ended_command: `
  select command_id, deposit_id, proposed_by, proposal_operation_id, ended_by, operation_id from payments.ended_command`,
  reconcilable_depositor: `
  select player_id, day, day_total from payments.depositor`,
  reconcilable_event: `
  select id, published_at, coalesce(message #>> '{event,data,id}', id) as aggregate,${told((...names) => `message #>> ${path(...names)}`)}
  from payments.published_event`,
  reconcilable_waiting_event: `
  select id, aggregate,${told((...names) => `payments.json_text(message, ${quoted(...names)})`)}
  from payments.outbox where kind = 'event'`,
})}
`,
}
