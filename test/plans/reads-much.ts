/** Statements that are meant to read much, each by a part of its text, and why that is right. */
export const readsMuch: readonly {
  readonly part: string
  readonly reason: string
  /** What `wasteOf` may find in it, as a pattern; anything when absent. */
  readonly only?: RegExp
}[] = [
  {
    part: 'd.expected, d.actual, d.explanation',
    reason: 'reconciliation asks about a page of keys, and keeps the planner from reading all for it',
  },
  { part: 'from wallet.entry', reason: 'the same' },
  {
    part: "select id from wallet.account where kind = 'player'",
    reason: 'a full reconciliation goes through all accounts',
  },
  { part: 'reconcilable_audit r where r.at', reason: 'reconciliation pages by time, and rows of one time by their id' },
  { part: 'from payments.reconcilable_event r where', reason: 'the same' },
  { part: 'as verified_below', reason: 'reconciliation sums up every system account, of which a brand has a few' },
  { part: "select 'payments' as service, name", reason: 'reconciliation lists all that is in flight' },
  { part: 'encode(head,', reason: 'the heads of all chains are exported; an index would cost each posting more' },
  { part: 'pg_snapshot_xmin', reason: 'a checkpoint is taken of every system account, of which a brand has a few' },
  {
    part: 'select published_at, id, message from published_event',
    reason:
      'after a reconnect the stream is asked for a page of events, and rows of one time are told apart by their id',
  },
  {
    part: 'with due as ( select o.id from outbox o',
    reason: 'what stands before it is looked up for each of two hundred rows',
    only: /^filters outbox: /,
  },
  { part: 'name as operation, aggregate as subject', reason: 'the team lists the commands that are unfinished' },
  { part: 'and status is not null limit', reason: 'all but a few of the claims that have expired have a reply' },
  { part: 'count(*) as waiting', reason: 'a metric counts what is unfinished' },
  { part: 'as oldest from delivery', reason: 'a metric counts what waits for delivery' },
  { part: 'as e (environment)', reason: 'a metric finds the oldest unfinished command and intent of each environment' },
  { part: 'latest_document_type', reason: 'the team sorts a queue of players by how long they have waited' },
  {
    part: 'name_words(name) @@',
    reason: 'the team searches names: an index finds all of a name, and the newest of them are shown',
  },
  {
    part: "then 'autoexcluido' else status end =",
    reason: 'the team filters players of one brand by the status that is seen now, which is no column',
    only: /^filters player: /,
  },
  {
    part: "then 'expirado' else kyc_status end =",
    reason: 'the same of their KYC status',
    only: /^filters player: /,
  },
  {
    part: 'order by created_at desc, id desc limit',
    reason: 'the team lists deposits by filters that are optional, of a brand, a player or a period',
    only: /^filters deposit/,
  },
  {
    part: ') withdrawal order by id desc limit',
    reason: 'the same of withdrawals, of an operator, a player or a period',
    only: /^filters withdrawal/,
  },
  { part: 'order by e.seq desc limit', reason: 'the team lists entries of one player by filters that are optional' },
  {
    part: 'order by d.id desc limit',
    reason: 'the team lists deliveries of all operators by a type and a period, of those that are kept for some days',
    only: /^filters delivery/,
  },
  { part: 'json_each_text', reason: 'an export of all that is kept of one player is rare: no index serves it alone' },
]

/** Statements that the calls of this test need not send. */
export const unsent: readonly { readonly part: string; readonly reason: string }[] = [
  { part: 'update reconciliation set progress =', reason: 'a reconciliation sends it each second that it takes' },
  {
    part: 'select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent =',
    reason: 'asked of the catalogue before the events of the sandbox are deleted',
  },
  { part: 'select from reconciliation where id =', reason: 'a schedule of reconciliations sends it' },
  {
    part: "select from reconciliation where state = 'running' and is_full and heartbeat_at >",
    reason: 'the same, when a full run is due',
  },
  { part: 'select from wallet.transfer where id <', reason: 'sent while no export of heads is there' },
  {
    part: 'select e.xid::text, e.transfer_id, e.amount from wallet.entry e where e.account_id =',
    reason: 'one transaction has more entries of a system account than a page of the reconciliation',
  },
]
