-- A ledger of several years, written at once: adjustments of 1.00. The entries of all accounts are interleaved by time, as
-- they would be after years, and have the hash chains that the wallet would write.
-- Settings: bench.brand, bench.currency, bench.rows.

create temp table filled_account as
with size as (select current_setting('bench.rows')::bigint as rows),
  wanted as (
    select 'large' as name, rows / 10 as entries from size
    union all select 'small', greatest(rows / 1000, 20) from size
    -- Every transfer has two entries, one of them a player's. The remaining rows go to accounts of ordinary size.
    union all select n::text, 500 from size, generate_series(1, ((rows / 2 - rows / 10 - rows / 1000) / 500)::int) n
  ), opened as (
    insert into wallet.account (brand_id, owner_id, kind, currency, genesis, head, created_at, updated_at)
    select current_setting('bench.brand'), 'ply_0filled' || lpad(w.name, 19, '0'), 'player', current_setting('bench.currency'),
      start, start, now() - interval '3 years', now()
    from wanted w cross join lateral (select sha256((w.name || gen_random_uuid()::text)::bytea) as start) s
    returning id, owner_id, genesis
  )
select o.id, o.genesis, w.entries, random() as phase
from opened o join wanted w on o.owner_id = 'ply_0filled' || lpad(w.name, 19, '0');

insert into wallet.account (brand_id, kind, currency, genesis, head, created_at, updated_at)
values (current_setting('bench.brand'), 'adjustments', current_setting('bench.currency'), '', '', now(), now())
on conflict do nothing;

-- The state of the aggregate is the hash of the previous entry.
create function pg_temp.next_link(before bytea, genesis bytea, content text) returns bytea language plpgsql immutable as
$$ begin return sha256(coalesce(before, genesis) || convert_to(content, 'UTF8')); end $$;
create aggregate pg_temp.chain(bytea, text) (sfunc = pg_temp.next_link, stype = bytea);

create temp table filled_entry as
with planned as (
  select a.id as account_id, a.genesis, n as seq,
    date_trunc('milliseconds', now() - interval '3 years' + interval '3 years' * ((n - a.phase) / a.entries)) as at,
    s.id as system_id, s.brand_id
  from filled_account a
  cross join lateral generate_series(1, a.entries) n
  join wallet.account s on s.brand_id = current_setting('bench.brand') and s.kind = 'adjustments'
    and s.currency = current_setting('bench.currency') and s.owner_id is null
), named as (
  -- An id begins with its time, like the ids that the services make.
  select *, 'trf_0' || lpad(to_hex((extract(epoch from at) * 1000)::bigint), 11, '0') || lpad(to_hex(account_id), 7, '0')
      || lpad(to_hex(seq), 7, '0') as transfer_id,
    to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at_text
  from planned
)
select account_id, system_id, brand_id, seq, transfer_id, at,
  pg_temp.chain(genesis, format(
    '["%s","%s","100","%s","%s","%s","%s","ADJUSTMENT","%s","%s","100","posted",null,"bench","%s","%s"]',
    account_id, seq, seq * 100, transfer_id, brand_id, 'fill-' || transfer_id, system_id, account_id, at_text, at_text
  )) over (partition by account_id order by seq) as hash
from named;

insert into wallet.transfer (id, brand_id, reference, type, debit_account, credit_account, amount, outcome, reason,
  effective_at, created_at)
select transfer_id, brand_id, 'fill-' || transfer_id, 'ADJUSTMENT', system_id, account_id, 100, 'posted', 'bench', at, at
from filled_entry order by at;

-- Reconciliation wants to know who made each adjustment.
insert into wallet.audit_entry (id, at, actor, operation, operation_id, subject, reason, outcome, input)
select 'aud' || substr(e.transfer_id, 4), e.at, 'bench', 'adjustWallet', 'opn' || substr(e.transfer_id, 4), a.owner_id, 'bench', 'done',
  json_build_object('playerId', a.owner_id, 'amount', '1.00', 'reference', 'fill-' || e.transfer_id, 'reason', 'bench')
from filled_entry e join wallet.account a on a.id = e.account_id order by e.at;

insert into wallet.entry (account_id, seq, transfer_id, amount, balance, hash)
select side.account_id, side.seq, e.transfer_id, side.amount, side.balance, side.hash
from filled_entry e
cross join lateral (values (e.account_id, e.seq, 100, e.seq * 100, e.hash), (e.system_id, null, -100, null, null))
  as side (account_id, seq, amount, balance, hash)
order by e.at;

update wallet.account a set posted = last.seq * 100, seq = last.seq, head = last.hash, updated_at = last.at
from filled_entry last join filled_account f on f.id = last.account_id and f.entries = last.seq
where a.id = last.account_id;

drop table filled_entry;
drop table filled_account;
