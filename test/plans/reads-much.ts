/**
 * Statements that are meant to read much, each by a part of its text, and why that is right.
 * `only`: what `wasteOf` may find in it, as a pattern; anything when absent
 */
export const readsMuch: readonly (readonly [part: string, reason: string, only?: RegExp])[] = [
  [
    'd.expected, d.actual, d.explanation',
    'reconciliation asks about a page of keys, and keeps the planner from reading all for it',
  ],
  ['a.id as audit_id', 'the same'],
  [
    'select distinct e.account_id from wallet.entry s',
    'a proof names who has entries of the present, and keeps it likewise',
  ],
  ["select id from wallet.account where kind = 'player'", 'a full reconciliation goes through all accounts'],
  ['reconcilable_audit r where r.at', 'reconciliation pages by time, and rows of one time by their id'],
  [
    'from gateway.reconcilable_provider_brand r where true',
    'a limit ends the join of the first rows',
    /^reads all of provider_brand_pkey$/,
  ],
  ['from payments.reconcilable_event r where', 'the same'],
  ['as verified_below', 'reconciliation sums up every system account, of which a brand has a few'],
  ["select 'payments' as service, name", 'reconciliation lists all that is in flight'],
  ['encode(head,', 'the heads of all chains are exported; an index would cost each posting more'],
  ['pg_snapshot_xmin', 'a checkpoint is taken of every system account, of which a brand has a few'],
  [
    'select published_at, id, message from published_event',
    'after a reconnect a page of events is published again, and rows of one time are told apart by their id',
  ],
  [
    'with due as ( select o.id from outbox o',
    'what stands before it is looked up for each of two hundred rows',
    /^filters outbox: /,
  ],
  ['name as operation, aggregate as subject', 'the team lists the commands that are unfinished'],
  ['and status is not null limit', 'all but a few of the claims that have expired have a reply'],
  ['count(*) as waiting', 'a metric counts what is unfinished'],
  ['as oldest from delivery', 'a metric counts what waits for delivery'],
  ['as e (environment)', 'a metric finds the oldest unfinished command and intent of each environment'],
  ['latest_document_type', 'the team sorts a queue of players by how long they have waited'],
  ['name_words(name) @@', 'the team searches names: an index finds all of a name, and the newest of them are shown'],
  [
    "then 'autoexcluido' else status end =",
    'the team filters players by the status that is seen now: an index has the stored one, and those who are excluded are few',
    /^(?:filters player: |reads all of player_of_status$)/,
  ],
  [
    'order by created_at desc, id desc limit',
    'the team lists deposits by filters that are optional, of a brand, a player or a period',
    /^filters deposit/,
  ],
  [
    'then ( select t.from_status from status_transition t',
    'the same of withdrawals, of an operator, a player or a period',
    /^filters withdrawal/,
  ],
  ['with recursive search', 'the balances of thirty days are put in order', /^sorts a table$/],
  ['h.released_at is null and h.provider_id = coalesce', 'the wins that wait are few: a person is paged for each'],
  ['order by e.seq desc limit', 'the team lists entries of one player by filters that are optional'],
  [
    'from account a join round r on r.account_id = a.id where a.owner_id =',
    'the same of rounds of one player',
    /^filters round: /,
  ],
  [
    'from play p where p.account_id = (select id from account where owner_id =',
    'the same of plays of one player',
    /^filters play: /,
  ],
  [
    'order by d.id desc limit',
    'the team lists deliveries of all operators by a type and a period, of those that are kept for some days',
    /^filters delivery/,
  ],
  ['order by request_id desc limit', 'the team lists what operators were refused by filters that are optional'],
  ['json_each_text', 'an export of all that is kept of one player is rare: no index serves it alone'],
  [
    'select item, min(at) as first_at',
    'what an applicant has proved is looked for once an hour, in its claims of a day and its refusals of a week',
    /^filters (claim|refused_request): /,
  ],
  ['from (select * from wallet.transfer where', 'a proof reads pages of ids, and a ledger of one page has no bounds'],
  ['as may_play', 'the same: whether any transfer of the page is of a play'],
  ['from (select * from payments.reconcilable_deposit where', 'the same'],
  [
    'b.balance as before_balance',
    'a proof begins with the last entry of a transaction that has ended, and steps over those of the present',
    /^filters entry: \(entry\.xid/,
  ],
]

/** Statements that the calls of this test need not send. */
export const unsent: readonly (readonly [part: string, reason: string])[] = [
  ['select name, setting from pg_settings where name = any(', 'a service of production starts'],
  [
    'select u.published_at, u.id, e.message from unheard_events() u cross join lateral ( select message from published_event where published_at = u.published_at and id = u.id limit 1 ) e where u.id = any(',
    'webhooks has not heard of an event',
  ],
  ['update reconciliation set progress =', 'a reconciliation sends it each second that it takes'],
  [
    'select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid where i.inhparent =',
    'asked of the catalogue before the events of the sandbox are deleted',
  ],
  ['select from reconciliation where id =', 'a schedule of reconciliations sends it'],
  [
    "select from reconciliation where state = 'running' and is_full and heartbeat_at >",
    'the same, when a full run is due',
  ],
  ['select id from delivery where id = any(', 'another transaction has locked a delivery, or it was purged'],
  ['select from wallet.transfer where id <', 'sent while no export of heads is there'],
  [
    'select e.xid::text, e.transfer_id, e.amount from wallet.entry e where e.account_id =',
    'one transaction has more entries of a system account than a page of the reconciliation',
  ],
  ['select id from wallet.transfer where', 'a value makes the statement of a page of a proof fail'],
  ['select id from wallet.play where', 'the same'],
  ['select id from wallet.round where', 'the same'],
  [
    'select a.id, count(*) as entries, a.brand_id, a.currency, coalesce(sum(e.amount) filter (where e.xid <',
    'a proof has found an entry that does not continue its chain',
  ],
  [
    'select d.id, s.record_id from (select id from payments.reconcilable_deposit where',
    'deposits are in another database',
  ],
]
