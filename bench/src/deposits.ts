import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { startSystem } from '@backoffice/test-kit'
import { inParallel, newOperator, newPlayer, percentile } from './load.ts'

const { values } = parseArgs({
  options: {
    deposits: { type: 'string', default: '5000' },
    clients: { type: 'string', default: '64' },
    players: { type: 'string', default: '50' },
  },
})
const deposits = Number(values.deposits)
const clients = Number(values.clients)
const players = Number(values.players)

const endings: (() => unknown)[] = []
const system = await startSystem({ teardown: (end) => endings.push(end) })

const statuses = new Map<string, number>()
const latenciesMs: number[] = []

/** One measured request, by the name of what it does. */
async function measured(name: string, path: string, body: unknown) {
  const startedAt = performance.now()
  const answer = await operator.post(path, body)
  latenciesMs.push(performance.now() - startedAt)
  const key = `${name} ${answer.status}`
  statuses.set(key, (statuses.get(key) ?? 0) + 1)
  return answer
}

const operator = await newOperator(system, clients)
const playerIds: string[] = []
await inParallel({ count: players, clients }, async () => {
  const answer = await measured('register', '/players', newPlayer())
  playerIds.push(answer.body.id)
})

latenciesMs.length = 0
const startedAt = performance.now()
await inParallel({ count: deposits, clients }, async (index) => {
  const path = `/players/${playerIds[index % players]}/deposits`
  const body = { amount: '1.00', currency: 'BRL', method: 'pix', externalReference: randomUUID() }
  const created = await measured('create', path, body)
  if (created.status === 201) await measured('confirm', `/deposits/${created.body.id}/confirm`, {})
})
const seconds = (performance.now() - startedAt) / 1000

const latency = (share: number) => percentile(latenciesMs, share).toFixed(1)

let differences = 0
for (const [index, playerId] of playerIds.entries()) {
  const expected = Math.floor(deposits / players) + (index < deposits % players ? 1 : 0)
  const wallet = (await operator.get(`/players/${playerId}/wallet`)).body
  let entries = 0
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const page = (await operator.get(`/players/${playerId}/transactions?limit=200${query}`)).body
    entries += page.data.length
    cursor = page.nextCursor
  }
  if (wallet.available !== `${expected}.00` || entries !== expected) differences += 1
}

const report = {
  deposits,
  clients,
  seconds: Number(seconds.toFixed(2)),
  requestsPerSecond: Math.round((2 * deposits) / seconds),
  latencyMs: { p50: latency(0.5), p95: latency(0.95), p99: latency(0.99), max: latency(1) },
  statuses: Object.fromEntries(statuses),
  walletsThatDiffer: differences,
}
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
await operator.close()
for (const end of endings.reverse()) await end()

const allSucceeded = [...statuses.keys()].every((key) => /20[01]$/.test(key))
process.exitCode = allSucceeded && differences === 0 ? 0 : 1
