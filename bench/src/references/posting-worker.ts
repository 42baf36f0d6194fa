// A thread that posts with row-locking SQL from Node, where the machine has no pgbench: named statements, one connection a
// client. It uses more processor time than pgbench, so its rate is lower, and what is compared with it looks better.
import { randomUUID } from 'node:crypto'
import { parentPort, workerData } from 'node:worker_threads'
import pg from 'pg'
import { closedLoop } from '../load/closed-loop.ts'
import { accountsOf, type PostingResult, type PostingRun } from './posting.ts'

const warmUpMs = 200

const credit = `update account set posted = posted + 100, seq = seq + 1, updated_at = now()
  where id = $1 returning seq, posted`
const transfer = `insert into transfer (id, reference, debit_account, credit_account, amount)
  values ('trf_' || $1::text, 'dep_' || $1::text, 0, $2, 100)`
const entries = `insert into entry (account_id, seq, transfer_id, amount, balance)
  values ($1, $2, 'trf_' || $3::text, 100, $4), (0, null, 'trf_' || $3::text, -100, null)`

async function post(client: pg.Client, account: number): Promise<void> {
  const id = randomUUID()
  await client.query({ name: 'begin', text: 'begin' })
  const { rows } = await client.query<{ seq: string; posted: string }>({
    name: 'credit',
    text: credit,
    values: [account],
  })
  await client.query({ name: 'transfer', text: transfer, values: [id, account] })
  await client.query({ name: 'entries', text: entries, values: [account, rows[0]?.seq, id, rows[0]?.posted] })
  await client.query({ name: 'commit', text: 'commit' })
}

async function run({ url, distribution, accounts, clients, seconds }: PostingRun): Promise<PostingResult> {
  const connections = Array.from({ length: clients }, () => new pg.Client({ connectionString: url }))
  await Promise.all(connections.map((connection) => connection.connect()))
  const draw = accountsOf(distribution, accounts)
  const load = await closedLoop({ clients, warmUpMs, windowMs: seconds * 1_000 }, (client) =>
    post(connections[client] as pg.Client, draw()),
  )
  await Promise.all(connections.map((connection) => connection.end()))
  return { perSecond: (load.operations * 1_000) / load.windowMs, failures: {} }
}

parentPort?.postMessage(await run(workerData as PostingRun))
