-- Confirmed deposits of 1.00 with their credits, a hundred of each player over three years, as the services would have left
-- them, with their hash chains. The newest is ten days old, so no event of them is kept any more.
-- Settings: bench.brand, bench.operator, bench.currency and bench.rows.

insert into wallet.account (brand_id, kind, currency, genesis, head, created_at, updated_at)
values (current_setting('bench.brand'), 'deposits', current_setting('bench.currency'), '', '', now(), now())
on conflict do nothing;

create function pg_temp.digits(at timestamptz) returns text language sql immutable as $$
  select string_agg(substr('0123456789abcdefghjkmnpqrstvwxyz', ((floor(extract(epoch from at) * 1000)::bigint >> 5 * n) & 31)::int + 1, 1), ''
    order by n desc) from generate_series(0, 9) n $$;
-- The state of the aggregate is the hash of the previous entry.
create function pg_temp.next_link(before bytea, genesis bytea, content text) returns bytea language sql immutable as
$$ select sha256(coalesce(before, genesis) || convert_to(content, 'UTF8')) $$;
create aggregate pg_temp.chain(bytea, text) (sfunc = pg_temp.next_link, stype = bytea);

create temp table filled_account as
with opened as (
  insert into wallet.account (brand_id, owner_id, kind, currency, genesis, head, created_at, updated_at)
  select current_setting('bench.brand'), 'ply_0credited' || lpad(n::text, 17, '0'), 'player', current_setting('bench.currency'),
    start, start, now() - interval '3 years', now() - interval '10 days'
  from generate_series(1, current_setting('bench.rows')::bigint / 100) n
  cross join lateral (select sha256((n || gen_random_uuid()::text)::bytea) as start) s
  returning id, owner_id, genesis
)
select *, random() as phase from opened;

create temp table filled as
select account_id, owner_id, seq, at, pg_temp.digits(at) || lpad(to_hex(account_id * 128 + seq), 16, '0') as id, system_id,
  (ended * share)::bigint as xid, null::bytea as hash, genesis
from (
  select a.id as account_id, a.owner_id, a.genesis, n as seq, (n - a.phase) / 100 as share,
    date_trunc('milliseconds', now() - interval '3 years' + (interval '3 years' - interval '10 days') * ((n - a.phase) / 100)) as at,
    s.id as system_id
  from filled_account a cross join generate_series(1, 100) n
  join wallet.account s on s.brand_id = current_setting('bench.brand') and s.kind = 'deposits' and s.owner_id is null
    and s.currency = current_setting('bench.currency')
) planned, (select pg_snapshot_xmin(pg_current_snapshot())::text::bigint as ended) x;

create temp table chained as
select account_id, owner_id, seq, at, id, system_id, xid, pg_temp.chain(genesis, format(
    '["%s","%s","100","%s","trf_%s","%s","dep_%s","DEPOSIT","%s","%s","100","posted",null,null,"%s","%s"]',
    account_id, seq, seq * 100, id, current_setting('bench.brand'), id, system_id, account_id, at_text, at_text
  )) over (partition by account_id order by seq) as hash
from filled cross join lateral (select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at_text) t;
drop table filled;
create index on chained (id);
analyze chained;

insert into payments.deposit (id, brand_id, operator_id, environment, time_zone, player_id, external_reference, amount, currency,
  method, status, version, created_at, confirmed_at)
select 'dep_' || id, current_setting('bench.brand'), current_setting('bench.operator'), 'sandbox', 'UTC', owner_id, id, 100,
  current_setting('bench.currency'), 'pix', 'confirmed', 2, at, at
from chained order by id;
insert into payments.status_transition (record_id, version, from_status, to_status, at, by_kind, operation_id)
select 'dep_' || id, step.version, step.before, step.after, at, 'operator', 'opn_' || id
from chained cross join (values (1, null, 'pending'), (2, 'pending', 'confirmed')) step (version, before, after) order by id, step.version;
insert into payments.depositor (player_id, deposited, day, day_total)
select owner_id, 10000, (at at time zone 'UTC')::date, 100 from chained where seq = 100;
insert into wallet.transfer (id, brand_id, reference, type, debit_account, credit_account, amount, outcome, effective_at, created_at)
select 'trf_' || id, current_setting('bench.brand'), 'dep_' || id, 'DEPOSIT', system_id, account_id, 100, 'posted', at, at
from chained order by id;
insert into wallet.entry (account_id, seq, transfer_id, amount, balance, hash, xid)
select side.account_id, side.seq, 'trf_' || id, side.amount, side.balance, side.hash, xid::text::xid8
from chained
cross join lateral (values (account_id, seq, 100, seq * 100, hash), (system_id, null, -100, null, null))
  as side (account_id, seq, amount, balance, hash)
order by id;
update wallet.account a set posted = 10000, seq = 100, head = last.hash, updated_at = last.at
from chained last where a.id = last.account_id and last.seq = 100;
drop table chained;
drop table filled_account;
