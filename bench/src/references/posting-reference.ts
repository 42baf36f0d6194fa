import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import pg from 'pg'
import type { Case, Sample, Setting } from '../case.ts'
import { CpuClock } from '../measure.ts'
import type { Subject } from '../stack/subject.ts'
import { findPgbench, runPgbench } from './pgbench.ts'
import type { Distribution, PostingResult, PostingRun } from './posting.ts'

const clients = 32
const database = 'bench_reference'
const fileBeside = (name: string) => fileURLToPath(new URL(name, import.meta.url))

const titles: Readonly<Record<Distribution, string>> = {
  uniform: 'SQL: one posting a transaction',
  hot: 'SQL: one posting a transaction, one hot account',
  zipf: 'SQL: one posting a transaction, Zipf 2.0',
}

/**
 * Postings as plain SQL, in a database of their own on the PostgreSQL of the first measured system. They show how fast a
 * ledger without services and without gathering is on this machine.
 */
export async function postingReference({
  options,
  systems,
  ending,
}: Setting): Promise<{ readonly case: (distribution: Distribution) => Case }> {
  const [subject] = systems.plain
  if (subject === undefined) throw new Error('there is no system to hold anything against')
  const pgbench = findPgbench()
  const run = pgbench === undefined ? runPostingWorker : (posting: PostingRun) => runPgbench(pgbench, posting)
  const url = await makeDatabase(subject, options.accounts)
  ending.defer(() => dropDatabase(subject))
  // pgbench counts in whole seconds.
  const seconds = Math.max(1, Math.round(options.windowMs / 1_000))
  return {
    case: (distribution) => ({
      id: `sql-${distribution}`,
      title: `${titles[distribution]}, ${clients} clients (${pgbench === undefined ? 'node pg' : 'pgbench'})`,
      column: 'reference',
      shows: 'perSecond',
      measure: () => measure(subject, () => run({ url, distribution, clients, accounts: options.accounts, seconds })),
    }),
  }
}

/** For machines without pgbench: see posting-worker.ts. */
function runPostingWorker(posting: PostingRun): Promise<PostingResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(fileBeside('./posting-worker.ts'), { workerData: posting })
    worker.once('message', resolve)
    worker.once('error', reject)
  })
}

async function measure(subject: Subject, run: () => Promise<PostingResult>): Promise<Sample> {
  const clock = new CpuClock(() => ({ postgres: subject.stack.processes().postgres ?? 0 }))
  const startedAtMs = performance.now()
  clock.start()
  const { perSecond, failures } = await run()
  clock.stop()
  const operations = (perSecond * (performance.now() - startedAtMs)) / 1_000
  return { figures: { perSecond, ...clock.figures(operations) }, failures }
}

async function makeDatabase(subject: Subject, accounts: number): Promise<string> {
  await dropDatabase(subject)
  await subject.withSql((client) => client.query(`create database ${database}`))
  const url = new URL(subject.stack.description.postgresUrl)
  url.pathname = `/${database}`
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  try {
    await client.query(readFileSync(fileBeside('./posting.sql'), 'utf8'))
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
