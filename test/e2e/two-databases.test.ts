// proof: it starts a system with two servers of PostgreSQL, and runs files of others on it

import { fileURLToPath } from 'node:url'
import { operations } from '@backoffice/contracts'
import { eventually, refusal, sharedSystemVariable, startProcess, startSystem } from '@backoffice/test-kit'
import pg from 'pg'
import t from 'tap'
import { busyOperator, expectStatus, fund, register } from '../journey.ts'

// The wallet, and with it the reconciler, in another PostgreSQL than all others.

const system = await startSystem(t, {
  ...{ backends: 'own', databases: 2 },
  environment: { WEBHOOK_BACKOFF_BASE_MS: '200' },
})
const alice = await system.asTeam('alice')
const operator = await busyOperator(system)
t.teardown(() => operator.close())

function connect(url = '') {
  const pool = new pg.Pool({ connectionString: url, max: 2 })
  pool.on('error', () => {})
  t.teardown(() => pool.end())
  return pool
}
const books = connect(system.walletPostgresUrl)
const records = connect(system.postgresUrl)

// The paths of money; what is refused, what a tenant may see and what a field may say no database decides.
for (const file of ['money-path', 'production'])
  t.test(`what ${file}.test.ts shows of one database holds with two`, async (t) => {
    const path = fileURLToPath(new URL(`${file}.test.ts`, import.meta.url))
    const env = { ...process.env, [sharedSystemVariable]: system.stackJson }
    const { ended, printed } = startProcess(t, [process.execPath, path], { env })
    t.equal(await ended, 0, printed().slice(-2_000))
    t.match(printed(), /^ok 1 /m)
  })

t.test('each has its own tables alone', async (t) => {
  const isTable = async (pool: pg.Pool, name: string) =>
    (await pool.query("select from pg_class where oid = to_regclass($1) and relkind = 'r'", [name])).rowCount === 1
  for (const [pool, own, other] of [
    [books, ['wallet.entry', 'reconciler.reconciliation'], ['payments.deposit', 'gateway.ended_session']],
    [records, ['payments.deposit', 'gateway.ended_session'], ['wallet.entry']],
  ] as const) {
    for (const name of own) t.ok(await isTable(pool, name), name)
    for (const name of other) t.notOk(await isTable(pool, name), name)
  }
})

t.test('who has logged out is refused by the wallet at once', async (t) => {
  const sofia = await system.asTeam('sofia')
  const look = () => sofia.call(operations.wallet.listProposals, { input: { limit: 1 } })
  await look()
  await sofia.call(operations.gateway.endSession, { input: {} })
  t.equal(await refusal(look()), 'LOGIN_REQUIRED')
})

/** What one run reports. */
async function report(full: boolean) {
  const { reconcileWallet } = operations.reconciler
  const { runId } = await alice.call(reconcileWallet, { input: { full } })
  return eventually(async () => {
    const { state, report, failure } = await alice.call(reconcileWallet, { input: { runId } })
    if (state === 'failed') throw new Error(failure ?? 'failed')
    return report ?? false
  })
}

/** The checks of the newest full run that name one of some subjects. */
async function found(subjects: readonly string[]): Promise<string[]> {
  const { differences } = await report(true)
  return [...new Set(differences.filter(({ subject }) => subjects.includes(subject)).map(({ check }) => check))].sort()
}

/** As an administrator, for whom no trigger speaks. */
async function behindTheBackOf(pool: pg.Pool, statement: string, id: string): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query("set session_replication_role = 'replica'")
    const { rowCount } = await client.query(statement, [id])
    if (rowCount !== 1) throw new Error(`nothing was changed: ${statement}`)
  } finally {
    await client.query("set session_replication_role = 'origin'")
    client.release()
  }
}

t.test('a difference is found on whichever side it was made, and is gone once it is mended', async (t) => {
  const { id: playerId } = await register(operator)
  const credited = await fund(operator, playerId, '70.00')
  t.same(await found([playerId, credited]), [])
  for (const [pool, forge, mend, checks] of [
    [
      records,
      'update payments.deposit set amount = amount + 1 where id = $1',
      'update payments.deposit set amount = amount - 1 where id = $1',
      ['deposits', 'events'],
    ],
    [
      records,
      "update payments.deposit set id = 'lost' where id = $1",
      "update payments.deposit set id = $1 where id = 'lost'",
      ['deposits', 'events', 'histories'],
    ],
    [
      books,
      "update wallet.transfer set reference = 'lost' where reference = $1",
      "update wallet.transfer set reference = $1 where reference = 'lost'",
      ['deposits'],
    ],
  ] as const) {
    await behindTheBackOf(pool, forge, credited)
    t.same(await found([credited]), checks, forge)
    await behindTheBackOf(pool, mend, credited)
  }
  const { differencesTotal, differences } = await report(true)
  t.equal(differencesTotal, 0, JSON.stringify(differences))
  for (const pool of [books, records])
    t.ok((await pool.query('select from reconciler.moment')).rowCount, 'each has its moments')
})

t.test('while money moves nothing differs', async (t) => {
  let moves = true
  const move = async () => {
    for (; moves; ) {
      const { id } = await register(operator)
      expectStatus(await operator.post(`/sandbox/players/${id}/kyc/decision`, { status: 'aprovado' }), 200)
      await fund(operator, id, '100.00')
      const body = { amount: '40.00', currency: 'BRL', method: 'pix', destination: 'ana@example.com' }
      const { id: withdrawalId } = expectStatus(await operator.post(`/players/${id}/withdrawals`, body), 201)
      for (const decision of ['approve', 'pay'])
        expectStatus(await operator.post(`/sandbox/withdrawals/${withdrawalId}/decision`, { decision }), 200)
    }
  }
  const moving = Promise.all([move(), move()])
  try {
    for (const isFull of [true, false, false]) {
      const { kind, differences } = await report(isFull)
      t.same(differences, [], kind)
    }
  } finally {
    moves = false
    await moving
  }
})
