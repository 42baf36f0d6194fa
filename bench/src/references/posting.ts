import { execFile } from 'node:child_process'
import { accessSync, constants, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import type { Case, Sample, Setting } from '../case.ts'
import { CpuClock } from '../measure.ts'
import type { Subject } from '../stack/subject.ts'

const clients = 32
const database = 'bench_reference'

const accounts = 100_000

interface PostingResult {
  readonly perSecond: number
  readonly failures: Readonly<Record<string, number>>
}

/**
 * Postings as plain SQL, spread evenly over accounts, in a database of their own on the PostgreSQL of the first measured
 * system. They show how fast a ledger without services and without gathering is on this machine. Where there is no
 * pgbench, nothing is held against them.
 */
export async function postingReference({ options, systems, ending }: Setting): Promise<readonly Case[]> {
  const [subject] = systems
  if (subject === undefined) throw new Error('there is no system to hold anything against')
  const pgbench = findPgbench()
  if (pgbench === undefined) return []
  const url = await makeDatabase(subject)
  ending.defer(() => dropDatabase(subject))
  // pgbench counts in whole seconds.
  const seconds = Math.max(1, Math.round(options.windowMs / 1_000))
  return [
    {
      id: 'sql',
      title: `SQL: one posting a transaction, ${clients} clients (pgbench)`,
      column: 'reference',
      shows: 'perSecond',
      measure: () => measure(subject, () => runPgbench(pgbench, url, seconds)),
    },
  ]
}

async function measure(subject: Subject, run: () => Promise<PostingResult>): Promise<Sample> {
  const clock = new CpuClock(() => ({ postgres: subject.processes().postgres ?? 0 }))
  const startedAtMs = performance.now()
  clock.start()
  const { perSecond, failures } = await run()
  clock.stop()
  const operations = (perSecond * (performance.now() - startedAtMs)) / 1_000
  return { figures: { perSecond, ...clock.figures(operations) }, failures }
}

async function makeDatabase(subject: Subject): Promise<string> {
  await dropDatabase(subject)
  await subject.withSql((client) => client.query(`create database ${database}`))
  const url = new URL(subject.postgresUrl)
  url.pathname = `/${database}`
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    await client.query(readFileSync(new URL('./posting.sql', import.meta.url), 'utf8'))
    await client.query('insert into account (id) select generate_series(1, $1::int)', [accounts])
    await client.query('vacuum analyze')
  } finally {
    await client.end()
  }
  return url.href
}

async function dropDatabase(subject: Subject): Promise<void> {
  await subject.withSql((client) => client.query(`drop database if exists ${database} with (force)`))
}

const run = promisify(execFile)
const threads = 2

/** Debian installs PostgreSQL's own programs beside the server, not on PATH. */
function findPgbench(): string | undefined {
  const onPath = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'pgbench'))
  const beside = globSync('/usr/lib/postgresql/*/bin/pgbench').sort().reverse()
  return [...beside, ...onPath].find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

// Account 0 is the system's side. It has no stored balance.
const script = `\\set account random(1, ${accounts})
\\set id random(1, 4611686018427387904)
begin;
update account set posted = posted + 100, seq = seq + 1, updated_at = now() where id = :account returning seq, posted \\gset
insert into transfer (id, reference, debit_account, credit_account, amount)
  values ('trf_' || :id, 'dep_' || :id, 0, :account, 100);
insert into entry (account_id, seq, transfer_id, amount, balance)
  values (:account, :seq, 'trf_' || :id, 100, :posted), (0, null, 'trf_' || :id, -100, null);
commit;
`

/** PostgreSQL's own load generator, with statements prepared once per connection. */
async function runPgbench(program: string, url: string, seconds: number): Promise<PostingResult> {
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-bench-pgbench-'))
  try {
    const file = join(dir, 'posting.sql')
    writeFileSync(file, script)
    const load = ['--no-vacuum', '--protocol=prepared', `--client=${clients}`, `--jobs=${threads}`, `--time=${seconds}`]
    const { stdout } = await run(program, [...load, `--file=${file}`, url])
    return resultIn(stdout)
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

function resultIn(printed: string): PostingResult {
  // On a busy machine no transaction may end within a second. Then pgbench prints no rate.
  if (/^number of transactions actually processed: 0$/m.test(printed))
    return { perSecond: 0, failures: { 'no transaction ended': 1 } }
  const perSecond = Number(/^tps = ([\d.]+)/m.exec(printed)?.[1])
  if (Number.isNaN(perSecond)) throw new Error(`pgbench printed no rate:\n${printed}`)
  const failed = Number(/^number of failed transactions: (\d+)/m.exec(printed)?.[1] ?? 0)
  return { perSecond, failures: failed === 0 ? {} : { 'failed transactions': failed } }
}
