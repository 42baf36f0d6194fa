import { randomUUID } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { operations } from '@backoffice/contracts'
import { startThrowAwayPostgres } from '@backoffice/dev-stack'
import { newId } from '@backoffice/service-runtime/internal'
import { startSystem, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import { newOperator, newPlayer, percentile, rate } from './load.ts'

/**
 * What one thing costs beside another, in one run on one machine: the cases take turns, so whatever else the machine
 * does meets all of them, and the medians of the rounds are set against each group's first case.
 */
const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '3' }, 'duration-ms': { type: 'string', default: '1500' } },
})
const rounds = Number(values.rounds)
const durationMs = Number(values['duration-ms'])

interface Case {
  readonly group: string
  readonly name: string
  readonly clients: number
  readonly work: () => Promise<void>
  readonly rates: number[]
}

const endings: (() => unknown)[] = []
const ending = { teardown: (end: () => unknown) => endings.push(end) }
const system = await startSystem(ending)
// Credits are measured without waiting for a disk. A PostgreSQL that is given serves both.
process.env.POSTGRES_URL ??= await throwAwayPostgres()
const bed = await testBed(ending, { wallet })
const operator = await newOperator(system, 64)
endings.push(() => operator.close())

async function throwAwayPostgres(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-bench-'))
  // PostgreSQL runs as a user of its own when this is root.
  chmodSync(dir, 0o755)
  const { url, child } = await startThrowAwayPostgres(dir)
  endings.push(async () => {
    await child.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  return url
}

function ok<T extends { readonly status: number; readonly bytes: Buffer }>(answer: T): T {
  if (answer.status >= 300) throw new Error(`${answer.status} ${answer.bytes}`)
  return answer
}

const playerIds: string[] = []
for (let count = 0; count < 64; count += 1) {
  playerIds.push(ok(await operator.post('/players', newPlayer())).body.id)
}
let turn = 0
/** Another player each time, as in life: the rules of one player's money take one request after another. */
const playerId = (): string => {
  turn += 1
  return playerIds[turn % playerIds.length] ?? ''
}
const depositRequest = () => ({
  amount: '1.00',
  currency: 'BRL',
  method: 'pix',
  externalReference: randomUUID(),
})

const creation = { path: `/players/${playerId()}/deposits`, body: depositRequest(), idempotencyKey: randomUUID() }
ok(await operator.post(creation.path, creation.body, creation))

const requests = {
  'GET /me': async () => void ok(await operator.get('/me')),
  'GET wallet': async () => void ok(await operator.get(`/players/${playerId()}/wallet`)),
  'GET transactions': async () => void ok(await operator.get(`/players/${playerId()}/transactions`)),
  'create a deposit': async () => void ok(await operator.post(`/players/${playerId()}/deposits`, depositRequest())),
  'replay of a creation': async () => void ok(await operator.post(creation.path, creation.body, creation)),
  'create and confirm': async () => {
    const { id } = ok(await operator.post(`/players/${playerId()}/deposits`, depositRequest())).body
    ok(await operator.post(`/deposits/${id}/confirm`))
  },
}

const accounts = Array.from({ length: 200 }, () => newId('ply'))
const scope = bed.scope()
async function credit(): Promise<void> {
  turn += 1
  const input = { depositId: newId('dep'), amount: '1.00', effectiveAt: new Date().toISOString() }
  await bed.rpc.call(operations.wallet.creditAccount, {
    scope,
    input: { ...input, playerId: accounts[turn % accounts.length] ?? '' },
  })
}

const one = (group: string, name: string, clients: number, work: () => Promise<void>): Case => ({
  group,
  name,
  clients,
  work,
  rates: [],
})
const cases: readonly Case[] = [
  ...Object.entries(requests).map(([name, work]) => one('what a request costs, 8 clients', name, 8, work)),
  ...[1, 8, 64].map((clients) => one('reading, more clients', 'GET /me', clients, requests['GET /me'])),
  ...[1, 8, 64].map((clients) =>
    one('deposits, more clients', 'create and confirm', clients, requests['create and confirm']),
  ),
  ...[1, 10, 100].map((clients) => one('postings that arrive together', 'credit, over NATS', clients, credit)),
]

for (let round = 0; round < rounds; round += 1) {
  for (const { clients, work, rates } of cases) rates.push(await rate({ clients, durationMs }, work))
}

const cell = (text: string | number, width: number) => String(text).padStart(width)
let group = ''
let first = 0
for (const { clients, rates, name, ...one } of cases) {
  const median = percentile(rates, 0.5)
  if (one.group !== group) {
    group = one.group
    first = median
    process.stdout.write(`\n${group.padEnd(34)}${cell('clients', 9)}${cell('a second', 11)}${cell('ratio', 8)}\n`)
  }
  const ratio = (median / first).toFixed(2)
  process.stdout.write(`  ${name.padEnd(32)}${cell(clients, 9)}${cell(Math.round(median), 11)}${cell(ratio, 8)}\n`)
}
for (const end of endings.reverse()) await end()
