import { appendOnly, brandTable, changed, type Migration, onlyInSandbox } from '@backoffice/service-runtime'
import { reconcilableViews, shownToReconciler } from '@backoffice/team-access/migrations'

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
const reconcilable = `
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
  reconcilable_decision: `
  select * from payments.audit_evidence where operation in ('decideWithdrawal', 'endCommand')`,
  reconcilable_depositor: `
  select player_id, day, day_total from payments.depositor`,
  reconcilable_event: `
  select id, published_at, coalesce(message #>> '{event,data,id}', id) as aggregate,${told((...names) => `message #>> ${path(...names)}`)}
  from payments.published_event`,
  reconcilable_waiting_event: `
  select id, aggregate,${told((...names) => `payments.json_text(message, ${quoted(...names)})`)}
  from payments.outbox where kind = 'event'`,
})}
`

/**
 * Deposits and withdrawals with their histories. How much, of whom and to where is written once, and so is who approved.
 * Their statuses change: reconciliation holds these against the ledger and the history.
 */
export const baseline: Migration = {
  name: '0001_baseline',
  sql: `
${brandTable('payments')}
-- Nothing recorded is ever deleted; of withdrawals only intents that came to nothing.
create function payments.keep_records() returns trigger language plpgsql as $$
begin
  if to_jsonb(old) ->> 'dropped_at' is not null then return old; end if;
  raise exception 'records are kept: % on %.%', tg_op, tg_table_schema, tg_table_name;
end $$;

create table payments.deposit (
  id text collate "C" primary key,
  brand_id text collate "C" not null,
  operator_id text collate "C" not null,
  environment text not null check (environment in ('sandbox', 'production')),
  time_zone text not null,
  player_id text collate "C" not null,
  external_reference text not null,
  amount bigint not null check (amount > 0),
  currency text not null,
  method text not null,
  status text not null check (status in ('pending', 'confirmed', 'failed')),
  failure_reason text,
  version integer not null check (version >= 1),
  created_at timestamptz not null,
  confirmed_at timestamptz,
  failed_at timestamptz,
  -- A brand is one operator in one environment.
  unique (brand_id, external_reference),
  check ((status = 'confirmed') = (confirmed_at is not null)),
  check ((status = 'failed') = (failed_at is not null)),
  check (failure_reason is null or status = 'failed')
-- A deposit is written twice. With room on its page the second writing takes the place of others' first, and needs no new
-- entries in the indexes: none of them names what a confirmation changes. Each leaves a row dead, and a fifth of all deposits
-- ever made would be too many for vacuum to wait for.
) with (fillfactor = 92, autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);
-- The day of a player; what the team lists of a brand, by time, which is 8 bytes where an id is 31; and of an environment.
create index deposit_of_player on payments.deposit (player_id, created_at);
create index deposit_by_time on payments.deposit (brand_id, created_at);
create index deposit_of_environment on payments.deposit (environment, created_at);
create trigger keep_records before delete on payments.deposit for each row execute function payments.keep_records();
create trigger keep_records_truncate before truncate on payments.deposit execute function payments.refuse_change();
create trigger keep_money before update on payments.deposit for each row
  when (${changed('id', 'brand_id', 'operator_id', 'environment', 'player_id', 'external_reference', 'amount', 'currency', 'method')})
  execute function payments.refuse_edit();
revoke delete on payments.deposit from backoffice_payments;

-- One row per player who deposits: its lock makes the deposits of one player, and so the day's sum, one after another.
create table payments.depositor (
  player_id text collate "C" primary key,
  -- The sum of all deposits that were begun.
  deposited bigint not null default 0,
  -- The last day on which the player deposited, in the brand's time zone, and the sum of its deposits without the failed
  -- ones. So a deposit does not read all others of its day.
  day date,
  day_total bigint check (day_total >= 0)
);

create table payments.withdrawal (
  id text collate "C" primary key,
  operation_id text collate "C" not null,
  brand_id text collate "C" not null,
  operator_id text collate "C" not null,
  environment text not null check (environment in ('sandbox', 'production')),
  time_zone text not null,
  player_id text collate "C" not null,
  amount bigint not null check (amount > 0),
  currency text not null,
  method text not null,
  -- Where it is paid to: in clear, or sealed and the clear column empty.
  destination text not null,
  sealed_destination text,
  -- The first three are seen by nobody outside: see domain/withdrawal.ts.
  status text not null check (status in ('intent', 'refused', 'abandoned',
    'under_review', 'approved', 'paid', 'rejected', 'cancelled', 'failed')),
  reason text,
  version integer not null check (version >= 0),
  created_at timestamptz not null,
  updated_at timestamptz not null,
  reviewed_at timestamptz,
  paid_at timestamptz,
  approved_by text,
  -- The account at the identity provider: a name may change. Null where nobody of the team did it.
  approved_by_id text,
  -- When an intent came to nothing: such rows, and no others, are purged.
  dropped_at timestamptz,
  -- What withdrawals to one destination are found by, though it is sealed. Null: anonymised.
  destination_digest text collate "C",
  -- The Idempotency-Key, and until when the gateway remembers it. A gateway's database that went back alone has forgotten it.
  key_digest text collate "C",
  key_until timestamptz,
  check ((status in ('refused', 'abandoned')) = (dropped_at is not null)),
  check ((status = 'paid') = (paid_at is not null)),
  check ((version = 0) = (status in ('intent', 'refused', 'abandoned')))
);
-- The players of a brand who are paid to one destination, each found without the other withdrawals.
create index withdrawal_of_destination on payments.withdrawal (brand_id, destination_digest, player_id)
  where destination_digest is not null and version > 0;
-- A retry finds the intent of its operation; after an abandoned one it begins another.
create unique index withdrawal_of_operation on payments.withdrawal (operation_id) where status <> 'abandoned';
create index withdrawal_attempts on payments.withdrawal (operation_id);
create index withdrawal_of_key on payments.withdrawal (key_digest) where key_digest is not null;
create index withdrawal_intent on payments.withdrawal (created_at) where status = 'intent';
create index withdrawal_dropped on payments.withdrawal (dropped_at) where dropped_at is not null;
-- The review queue of one environment: what waits in the sandbox, for ever perhaps, is not read for that of production.
create index withdrawal_queue_of_environment on payments.withdrawal (environment, status, id)
  where status in ('under_review', 'approved');
-- What the team lists, newest first.
create index withdrawal_of_environment on payments.withdrawal (environment, id);
create index withdrawal_of_operator on payments.withdrawal (operator_id, environment, id);
create index withdrawal_of_player on payments.withdrawal (player_id, id);
-- Whether a withdrawal is the first, and where the others went, is read without those that came to nothing.
create index withdrawal_paid_of_player on payments.withdrawal (player_id, paid_at) where paid_at is not null;
create trigger keep_records before delete on payments.withdrawal for each row execute function payments.keep_records();
create trigger keep_records_truncate before truncate on payments.withdrawal execute function payments.refuse_change();
create trigger keep_money before update on payments.withdrawal for each row
  when (${changed('id', 'operation_id', 'brand_id', 'operator_id', 'environment', 'player_id', 'amount', 'currency', 'method', 'key_digest', 'key_until')}
    or (old.approved_by is not null and (new.approved_by, new.approved_by_id) is distinct from (old.approved_by, old.approved_by_id)))
  execute function payments.refuse_edit();
-- A destination may be sealed, and sealed again under another key, which takes the key. It never becomes readable again, so
-- nobody who can only write to the table can have a withdrawal paid to another place. It can be replaced by 'anonymised'
-- when nothing is paid to it any more, since the law may ask for that.
create trigger keep_destination before update on payments.withdrawal for each row
  when (${changed('destination', 'sealed_destination')}
    and not (new.destination = '' and new.sealed_destination is not null)
    and not (new.destination = 'anonymised' and new.sealed_destination is null
      and old.status not in ('intent', 'under_review', 'approved')))
  execute function payments.refuse_edit();

-- Who changed what, when and why, of deposits and withdrawals alike.
create table payments.status_transition (
  record_id text collate "C" not null,
  version integer not null,
  from_status text,
  to_status text not null,
  at timestamptz not null,
  by_kind text not null check (by_kind in ('operator', 'team', 'sandbox')),
  -- Null for an operator: it is the record's.
  by_name text,
  -- The account at the identity provider. Null where nobody of the team did it.
  by_id text,
  reason text,
  operation_id text collate "C" not null,
  primary key (record_id, version)
);
${appendOnly('payments.status_transition')}
-- The sandbox's way to decide, without a person, is for brands of the sandbox.
${onlyInSandbox('payments.status_transition', {
  when: "new.by_kind = 'sandbox'",
  column: 'record_id',
  record: 'payments.withdrawal',
})}
-- The commands that were given up: the reason why a confirmed deposit has failed.
create table payments.ended_command (
  command_id text collate "C" primary key,
  deposit_id text collate "C" not null unique,
  proposed_by text not null,
  proposal_operation_id text collate "C" not null,
  ended_by text not null,
  ended_at timestamptz not null,
  operation_id text collate "C" not null,
  check (proposed_by <> ended_by)
);
${appendOnly('payments.ended_command')}
${reconcilable}`,
}
