import type { Migration } from '@backoffice/service-runtime'

/** What is reserved for withdrawals. Before money leaves, payments reads it here: an answer over the broker could be anybody's. */
export const openHolds: Migration = {
  name: '0002_open_holds',
  sql: `
create view wallet.open_hold as
  select h.brand_id, h.reference as withdrawal_id, a.owner_id as player_id, h.amount, a.currency
  from wallet.hold h join wallet.account a on a.id = h.account_id
  where h.state = 'open';
revoke all on wallet.open_hold from backoffice_wallet;
grant usage on schema wallet to backoffice_payments;
grant select on wallet.open_hold to backoffice_payments;
`,
}
