import { randomUUID } from 'node:crypto'
import { parseArgs } from 'node:util'
import { operations } from '@backoffice/contracts'
import { OperatorClient, startSystem } from '@backoffice/test-kit'

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

/** An operator whose rate limit this load does not reach. */
async function busyOperator(): Promise<OperatorClient> {
  const team = await system.asTeam('alice')
  const input = { name: `bench ${randomUUID().slice(0, 8)}`, rateLimitPerMinute: 10_000_000 }
  const { sandbox } = await team.call(operations.gateway.createOperator, { input })
  return new OperatorClient(system.baseUrl, { key: sandbox.key, secret: sandbox.secret ?? '' }, clients)
}

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

/** Runs `work` for each index, `clients` at a time. */
async function inParallel(count: number, work: (index: number) => Promise<void>): Promise<void> {
  let next = 0
  const client = async () => {
    while (next < count) {
      const index = next
      next += 1
      await work(index)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
}

function percentile(share: number): string {
  const sorted = latenciesMs.toSorted((a, b) => a - b)
  return (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1)
}

const operator = await busyOperator()
const playerIds: string[] = []
await inParallel(players, async () => {
  const answer = await measured('register', '/players', {
    externalId: randomUUID(),
    name: 'Ana Souza',
    email: 'ana@example.com',
    cpf: '52998224725',
    birthDate: '1990-05-17',
  })
  playerIds.push(answer.body.id)
})

latenciesMs.length = 0
const startedAt = performance.now()
await inParallel(deposits, async (index) => {
  const path = `/players/${playerIds[index % players]}/deposits`
  const body = { amount: '1.00', currency: 'BRL', method: 'pix', externalReference: randomUUID() }
  const created = await measured('create', path, body)
  if (created.status === 201) await measured('confirm', `/deposits/${created.body.id}/confirm`, {})
})
const seconds = (performance.now() - startedAt) / 1000

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
  latencyMs: { p50: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99), max: percentile(1) },
  statuses: Object.fromEntries(statuses),
  walletsThatDiffer: differences,
}
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
await operator.close()
for (const end of endings.reverse()) await end()

const allSucceeded = [...statuses.keys()].every((key) => /20[01]$/.test(key))
process.exitCode = allSucceeded && differences === 0 ? 0 : 1
