import { execFile } from 'node:child_process'
import { globSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import type { Case, Sample } from './figures.ts'
import type { Options } from './options.ts'
import { CpuClock } from './processes.ts'
import { type Subject, withSql } from './subject.ts'

const [clients, threads] = [32, 2]
const database = 'bench_reference'
const accounts = 100_000

/** The tables have only the indexes and checks that a ledger cannot do without. */
const tables = `
create table account (
  id bigint primary key,
  posted bigint not null default 0 check (posted >= 0),
  seq bigint not null default 0,
  updated_at timestamptz not null default now()
) with (fillfactor = 70);
create table transfer (
  id text collate "C" primary key,
  reference text collate "C" not null unique,
  debit_account bigint not null,
  credit_account bigint not null,
  amount bigint not null check (amount > 0),
  created_at timestamptz not null default now()
);
create table entry (
  account_id bigint not null,
  seq bigint,
  transfer_id text collate "C" not null,
  amount bigint not null check (amount <> 0),
  balance bigint check (balance >= 0)
);
create unique index entry_in_order on entry (account_id, seq) where seq is not null;
create index entry_of_transfer on entry (transfer_id);
insert into account (id) select generate_series(1, ${accounts});`

/** One transaction. Account 0 is the system's side: it has no stored balance. */
const posting = `\\set account random(1, ${accounts})
\\set id random(1, 4611686018427387904)
begin;
update account set posted = posted + 100, seq = seq + 1, updated_at = now() where id = :account returning seq, posted \\gset
insert into transfer (id, reference, debit_account, credit_account, amount)
  values ('trf_' || :id, 'dep_' || :id, 0, :account, 100);
insert into entry (account_id, seq, transfer_id, amount, balance)
  values (:account, :seq, 'trf_' || :id, 100, :posted), (0, null, 'trf_' || :id, -100, null);
commit;
`

/**
 * Postings as plain SQL, spread evenly over accounts, in a database of their own on the PostgreSQL of this system. They
 * show how fast a ledger without services and without batching is on this machine.
 * @returns none where there is no pgbench: then nothing is held against it
 */
export async function postingReference(
  { processes, postgresUrl }: Subject,
  { windowMs }: Pick<Options, 'windowMs'>,
  ending: AsyncDisposableStack,
): Promise<readonly Case[]> {
  const pgbench = findPgbench()
  if (pgbench === undefined) return []
  const drop = () => withSql(postgresUrl, (client) => client.query(`drop database if exists ${database} with (force)`))
  await drop()
  await withSql(postgresUrl, (client) => client.query(`create database ${database}`))
  ending.defer(async () => void (await drop()))
  const url = Object.assign(new URL(postgresUrl), { pathname: `/${database}` }).href
  await withSql(url, (client) => client.query(tables))
  await withSql(url, (client) => client.query('vacuum analyze'))
  const measure = async (): Promise<Sample> => {
    const clock = new CpuClock(() => ({ postgres: processes().postgres ?? 0 }))
    const startedAtMs = performance.now()
    clock.start()
    const { figures, failures } = await runPgbench(pgbench, url, windowMs)
    clock.stop()
    const postings = (figures.perSecond * (performance.now() - startedAtMs)) / 1_000
    return { figures: { ...figures, ...clock.figures(postings) }, failures }
  }
  const title = `SQL: one posting a transaction, ${clients} clients (pgbench)`
  return [{ id: 'sql', title, column: 'reference', shows: 'perSecond', measure }]
}

/** Debian installs PostgreSQL's own programs beside the server, not on PATH. */
function findPgbench(): string | undefined {
  const onPath = (process.env.PATH ?? '').split(delimiter).flatMap((folder) => globSync(join(folder, 'pgbench')))
  return [...globSync('/usr/lib/postgresql/*/bin/pgbench').sort().reverse(), ...onPath][0]
}

/** PostgreSQL's own load generator, with statements prepared once per connection. */
async function runPgbench(program: string, url: string, windowMs: number) {
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-bench-pgbench-'))
  try {
    const file = join(dir, 'posting.sql')
    writeFileSync(file, posting)
    // It counts in whole seconds.
    const seconds = Math.max(1, Math.round(windowMs / 1_000))
    const load = ['--no-vacuum', '--protocol=prepared', `--client=${clients}`, `--jobs=${threads}`, `--time=${seconds}`]
    const { stdout } = await promisify(execFile)(program, [...load, `--file=${file}`, url])
    const found = (pattern: RegExp) => Number(pattern.exec(stdout)?.[1] ?? 0)
    const failed = found(/^number of failed transactions: (\d+)/m)
    // On a busy machine no transaction may end within a second. Then it prints no rate.
    const none = found(/^number of transactions actually processed: (\d+)/m) === 0
    return {
      figures: { perSecond: found(/^tps = ([\d.]+)/m) },
      failures: none ? { 'no transaction ended': 1 } : failed === 0 ? {} : { 'failed transactions': failed },
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
