import type { ServiceName } from '@backoffice/contracts'
import pg from 'pg'

/** Rows of each table that grows with traffic: enough that reading all of one is never the cheapest plan. */
const rowsOfTable = 50_000
/** Of those that are asked for by the hundred, or sorted: of fewer, reading all would be cheaper. */
const rowsOfLargestTable = 100_000
const halfYearSeconds = 16_000_000

const id = (prefix: string, n = 'n') => `'${prefix}_' || lpad((${n})::text, 12, '0')`
/** Two hundred brands, of a hundred operators. */
const brand = `'brd_' || n % 200`
const operator = `'op_' || n % 100`
const provider = `'prv_' || n % 4`
/** Few accounts with many entries: there a plan that reads all of an account is far from the right one. */
const systemAccount = '1000000 + n % 20'
const playerAccount = '2000000 + n % 20'
/** Evenly over half a year. */
const atOf = (rows: number) => `'2026-01-01'::timestamptz + n * interval '${halfYearSeconds / rows} seconds'`
const from = (rows: number) => `from generate_series(1, ${rows}) n`
const [at, all] = [atOf(rowsOfTable), from(rowsOfTable)]
const [largestAt, allLargest] = [atOf(rowsOfLargestTable), from(rowsOfLargestTable)]

/**
 * A system that has run for half a year, schema by schema: nearly everything is finished, as it is after half a year. The
 * runtime's tables are the same in all schemas, and filled in one. What takes longest comes first.
 */
const fillings: Readonly<Record<ServiceName, readonly string[]>> = {
  payments: [
    `insert into deposit
      select ${id('dep')}, ${brand}, ${operator}, 'sandbox', 'UTC', ${id('ply', 'n % 20000')}, ${id('ext')}, 100, 'BRL', 'pix',
        case when n % 50 = 0 then 'failed' else 'confirmed' end, null, 2, ${largestAt}, case when n % 50 = 0 then null else ${largestAt} end,
        case when n % 50 = 0 then ${largestAt} end ${allLargest}`,
    `insert into depositor select ${id('ply')}, 100 ${from(20_000)}`,
    `insert into withdrawal (id, operation_id, brand_id, operator_id, environment, time_zone, player_id, amount, currency, method,
        destination, destination_digest, status, version, created_at, updated_at, reviewed_at, paid_at, dropped_at)
      select ${id('wdr')}, ${id('opn')}, ${brand}, ${operator}, 'sandbox', 'UTC', ${id('ply', 'n % 20000')}, 100, 'BRL', 'pix',
        'destination', 'key.' || md5('destination' || n % 10000), s.status, case when s.status in ('intent', 'refused') then 0 else 2 end, ${largestAt}, ${largestAt},
        case when s.status in ('approved', 'paid') then ${largestAt} end, case when s.status = 'paid' then ${largestAt} end, case when s.status = 'refused' then ${largestAt} end
      ${allLargest}, lateral (select case when n % 10000 = 0 then 'intent'
        when n % 200 = 1 then 'refused' when n % 400 = 2 then 'under_review' when n % 400 = 3 then 'approved' else 'paid' end as status) s`,
    `insert into status_transition (record_id, version, to_status, at, by_kind, operation_id)
      select ${id('dep')}, 1, 'pending', ${at}, 'operator', ${id('opn')} ${all}`,
    `insert into operation (operation_id, name, reply, created_at) select ${id('opn')}, 'createDeposit', '{"body":{}}', ${at} ${all}`,
    `insert into published_event select date_trunc('milliseconds', ${at}), ${id('evt')}, '{}' ${all}`,
    // As after hours without the broker: only what is not done stands there.
    `insert into outbox (id, aggregate, aggregate_seq, kind, name, message, environment, operation_id, created_at)
      select ${id('evt')}, ${id('dep', 'n / 2')}, n % 2, case when n % 2 = 0 then 'command' else 'event' end, 'x', '{}', 'sandbox', ${id('opn')}, ${largestAt}
      ${allLargest}`,
    `insert into inbox select 'schedule-delivery', ${id('evt')}, ${at} ${all}`,
    `insert into audit_entry (id, at, actor, operation, operation_id, subject, input, outcome)
      select ${id('aud')}, ${at}, 'alice', 'decideWithdrawal', ${id('opn')}, ${id('wdr')}, '{}', 'done' ${all}`,
  ],
  wallet: [
    `insert into account (id, brand_id, kind, currency, genesis, head, created_at, updated_at) overriding system value
      select 1000000 + n, ${brand}, 'deposits', 'BRL', '', '', now(), now() ${from(199)}`,
    `insert into account (id, brand_id, owner_id, kind, currency, posted, seq, genesis, head, created_at, updated_at)
      overriding system value
      select 2000000 + n, ${brand}, ${id('ply')}, 'player', 'BRL', 100, 1, '\\x01', '\\x02', ${at}, ${at} ${all}`,
    `insert into transfer
      select ${id('trf')}, ${brand}, ${id('dep')}, case when n % 20 = 0 then 'ADJUSTMENT' else 'DEPOSIT' end,
        ${systemAccount}, ${playerAccount}, 100, 'posted', null, null, ${at}, ${at} ${all}`,
    `insert into entry select ${playerAccount}, n / 20 + 1, ${id('trf')}, 100, 100, '\\x02', (n::text)::xid8 ${all}`,
    `insert into entry select ${systemAccount}, null, ${id('trf')}, -100, null, null, (n::text)::xid8 ${all}`,
    `insert into hold
      select ${brand}, ${id('wdr')}, ${playerAccount}, 100, case when n % 100 = 0 then 'open' else 'captured' end,
        case when n % 100 <> 0 then ${id('trf')} end, ${at}, case when n % 100 <> 0 then ${at} end ${all}`,
    `insert into system_checkpoint select 1000000 + n, (1000 + n)::text::xid8, 0, 0, now() ${from(199)}`,
    `insert into account (id, brand_id, kind, party, currency, genesis, head, created_at, updated_at) overriding system value
      select 1500000 + n, ${brand}, 'play', ${provider}, 'BRL', '', '', now(), now() ${from(199)}`,
    `insert into round (id, provider_id, brand_id, provider_round_id, account_id, game_id, state, opened_at, closed_at, closed_by, closed_seq, live_bets)
      select ${id('rnd')}, ${provider}, ${brand}, 'round-' || n, ${playerAccount}, 'wallet-reels', s.state, ${at},
        case when s.state <> 'open' then ${at} end, case when s.state <> 'open' then 'spin' end, case when s.state <> 'open' then n end, (s.state <> 'void')::int
      ${all}, lateral (select case when n % 400 = 0 then 'open' when n % 200 = 1 then 'void' else 'closed' end as state) s`,
    // Of each round a bet and a win; some bets were refused, without a round.
    `insert into play (id, provider_id, brand_id, kind, transaction_id, account_id, round_id, provider_round_id, outcome, amount,
        win_kind, bet_transaction_id, refused_with, body_digest, request_id, seq, balance_after, created_at)
      select ${id('pla')}, ${provider}, ${brand}, k.kind, 'transaction-' || n, ${playerAccount},
        case when k.outcome = 'posted' then ${id('rnd', 'n / 2')} end, 'round-' || n / 2, k.outcome, 100,
        case k.kind when 'win' then 'win' end, case k.kind when 'win' then 'transaction-' || n - 1 end,
        case k.outcome when 'refused' then 'INSUFFICIENT_FUNDS' end, '\\x00', ${id('req')}, n, 100, ${largestAt}
      ${allLargest}, lateral (select case n % 2 when 0 then 'bet' else 'win' end as kind,
        case when n % 400 = 2 then 'refused' else 'posted' end as outcome) k`,
    `insert into held_win select ${provider}, ${brand}, 'transaction-' || n, ${playerAccount}, 'round-' || n, 100, ${at},
        case when n % 400 <> 0 then ${at} end ${all}`,
    `insert into money_day select e, '2025-12-31'::date + n / 200, ${brand}, 'BRL', t, 1, 100
      ${from(40_000)}, unnest(array['sandbox', 'production']) e, unnest(array['DEPOSIT', 'WITHDRAWAL']) t`,
    `insert into money_position select 1000000 + n, (1000 + n)::text::xid8 ${from(199)}`,
    `insert into play_day select ${brand}, '2025-12-31'::date + n / 200, '[]', now() ${from(40_000)}`,
  ],
  players: [
    `insert into player (id, operator_id, brand_id, environment, currency, time_zone, external_id, name, email, cpf, birth_date,
        status, kyc_status, kyc_version, self_excluded_from, created_at, cpf_digest, email_digest, kyc_expires_at)
      select ${id('ply')}, ${operator}, ${brand}, case when n / 400 % 2 = 0 then 'production' else 'sandbox' end, 'BRL', 'UTC',
        ${id('ext')}, 'Ana Souza', 'ana@example.com', '52998224725', '1990-05-17', 'ativo',
        case when n % 400 = 0 then 'em_analise' else 'aprovado' end, 2, case when n % 50 = 0 then ${largestAt} end, ${largestAt},
        'key.' || md5('cpf' || n), 'key.' || md5('email' || n), ${largestAt} + interval '1 year' ${allLargest}`,
    `insert into kyc_submission select ${id('kyc')}, ${id('ply')}, 'rg', 'doc', ${largestAt} ${allLargest}`,
    `insert into player_change (player_id, at, actor, field, next)
      select ${id('ply')}, ${largestAt}, 'alice', k.field, k.next ${allLargest}, lateral (select
        case when n % 50 = 0 then 'selfExclusion' when n % 400 = 1 then 'dailyDepositLimit' else 'kycStatus' end as field,
        case when n % 50 = 0 then 'for good' when n % 400 = 1 then '50.00' else 'aprovado' end as next) k`,
    `insert into told_status select ${id('ply')}, case when n % 50 = 0 then 'autoexcluido' else 'ativo' end, null,
        case when n % 50 = 0 then ${largestAt} + interval '1 year' end, case when n / 400 % 2 = 0 then 'production' else 'sandbox' end, ${brand}
      ${allLargest} where n % 5 = 0`,
    `insert into game_session
      select ${id('ses')}, ${id('ply')}, ${brand}, 'lucky-tiger', 'demo', 'https://games', ${largestAt}, ${largestAt}, sha256(n::text::bytea), 1 ${allLargest}`,
  ],
  webhooks: [
    `insert into endpoint (id, operator_id, environment, url, created_at, updated_at)
      select ${operator} || '/' || e, ${operator}, e, 'https://x', now(), now() from generate_series(1, 99) n, unnest(array['sandbox', 'production']) e`,
    `insert into secret (endpoint_id, sealed, created_at) select id, 'x', now() from endpoint
      where not exists (select from secret where endpoint_id = endpoint.id)`,
    `insert into delivery (id, endpoint_id, event_id, type, brand_id, body, state, event_created_at, received_at, next_attempt_at, finished_at)
      select ${id('dlv')}, ${operator} || '/sandbox', ${id('evt')}, 'deposit.confirmed', ${brand}, '{}',
        case when n % 400 = 0 then 'pending' else 'delivered' end, ${at}, ${at},
        case when n % 400 = 0 then ${at} end, case when n % 400 <> 0 then ${at} end ${all}`,
    `insert into attempt select ${id('dlv')}, 1, ${at}, 20, 'https://x', 204 ${all}`,
    `insert into delivery_hour select date_trunc('hour', '2026-06-01'::timestamptz + h * interval '1 hour'), id, 100, 99
      from endpoint, generate_series(1, 720) h`,
  ],
  reconciler: [
    `insert into reconciliation select ${id('opn')}, 'schedule', ${at}, ${at}, 'done', true, '{}', '{}', null ${from(2_000)}`,
    `insert into account_checkpoint select 2000000 + n, 1, 100, '\\x02', '1000' ${all}`,
    `insert into moment (run_id) select 'x'`,
  ],
  gateway: [
    `insert into operator (id, name, rate_limit_per_minute, allowed_addresses, replay_protection, created_at)
      select ${operator}, 'operator ' || n, 600, '{}', true, now() ${from(99)}`,
    `insert into brand select ${brand}, ${operator}, case when n > 99 then 'sandbox' else 'production' end, 'x', 'BRL', 'UTC' ${from(199)}`,
    `insert into credential select 'crd_' || n, ${brand}, 'bk_test_' || n, 'sealed', now() ${from(199)}`,
    `insert into provider select 'prv_' || n, 'provider ' || n, 600, 600, '{}', null, now() ${from(99)}`,
    `insert into provider_key (id, provider_id, environment, key, sealed_secret, created_at)
      select 'crd_prv_' || n, 'prv_' || n % 99 + 1, 'sandbox', 'gp_test_' || n, 'sealed', now() ${from(400)}`,
    `insert into provider_brand select 'prv_' || n % 99 + 1, id, null, now() from brand, generate_series(1, 99) n`,
    `insert into claim
      select ${operator}, 'sandbox', ${id('key')}, '\\x00', 'createDeposit', ${id('opn')}, gen_random_uuid(), null, ${at}, 200, 'application/json', '{}', 'req' ${all}`,
    `insert into refused_request
      select ${id('req')}, ${at}, ${operator}, 'sandbox', 'key', true, 'getMe', 'GET', '/', 404, 'NOT_FOUND', null, null, null, 1 ${all}`,
    `insert into used_signature select ${operator}, 'sandbox', sha256(convert_to(n::text, 'UTF8')), ${id('key')}, ${at} ${all}`,
  ],
}

/** Fills the tables of every schema, two schemas at a time, and lets PostgreSQL look at what is in them. */
export async function fillTables(databaseUrl: string): Promise<void> {
  const waiting = Object.entries(fillings).values()
  const worker = async () => {
    for (const [schema, statements] of waiting) await fill(databaseUrl, schema, statements)
  }
  await Promise.all([worker(), worker()])
  // Once, because it is of the whole database. Vacuumed too, as tables are that were filled over half a year: otherwise
  // the plans would depend on how far autovacuum has come.
  await run(databaseUrl, '', ['vacuum (analyze)'])
}

/** What a system holds after its first minutes under load, in the tables with several keys. */
export function fillSome(databaseUrl: string): Promise<void> {
  const rows = 20_000
  const [at, some] = [atOf(rows), from(rows)]
  return run(databaseUrl, '-c session_replication_role=replica', [
    `insert into payments.deposit
      select ${id('dep')}, 'brd_1', 'op_1', 'sandbox', 'UTC', ${id('ply', 'n % 200')}, ${id('ext')}, 100, 'BRL', 'pix',
        'confirmed', null, 2, ${at}, ${at}, null ${some}`,
    `insert into players.player (id, operator_id, brand_id, environment, currency, time_zone, external_id, name, email, cpf,
        birth_date, status, kyc_status, kyc_version, created_at)
      select ${id('ply')}, 'op_1', 'brd_1', 'sandbox', 'BRL', 'UTC', ${id('ext')}, 'Ana Souza', 'ana@example.com', '52998224725',
        '1990-05-17', 'ativo', 'aprovado', 2, ${at} ${some}`,
    `insert into webhooks.delivery (id, endpoint_id, event_id, type, brand_id, body, state, event_created_at, received_at, finished_at)
      select ${id('dlv')}, 'op_1/sandbox', ${id('evt')}, 'deposit.confirmed', 'brd_1', '{}', 'delivered', ${at}, ${at}, ${at} ${some}`,
  ])
}

function fill(databaseUrl: string, schema: string, statements: readonly string[]): Promise<void> {
  // No triggers and no foreign keys: what they hold is of no matter to a plan.
  const options = `-c search_path=${schema} -c session_replication_role=replica`
  return run(databaseUrl, options, [leaveIndexes(schema), ...statements, `reindex schema ${schema}`])
}

/**
 * Rows that come now are not put into the indexes: to build each once, when all rows are there, takes a fraction of the
 * time. REINDEX makes them whole again.
 */
const leaveIndexes = (schema: string) =>
  `update pg_index set indisready = false from pg_class
    where pg_class.oid = indrelid and relkind = 'r' and relnamespace = '${schema}'::regnamespace`

async function run(databaseUrl: string, options: string, statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl, options })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}
