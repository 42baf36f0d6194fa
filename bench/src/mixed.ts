import { randomInt, randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { BackOfficeClient, BackOfficeError } from '@backoffice/client/source'
import { fromMinorUnits, operations, type ReconciliationReport, toMinorUnits } from '@backoffice/contracts'
import { startSystem } from '@backoffice/test-kit'
import { inParallel, newKeys, newPlayer } from './load.ts'

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '2000' },
    clients: { type: 'string', default: '32' },
    players: { type: 'string', default: '40' },
  },
})

const endings: (() => unknown)[] = []
const system = await startSystem({ teardown: (end) => endings.push(end) })
const team = await system.asTeam('alice')

const client = new BackOfficeClient({
  baseUrl: system.baseUrl,
  ...(await newKeys(system)),
  attemptsMax: 1,
})

const outcomes = new Map<string, number>()
const count = (name: string) => outcomes.set(name, (outcomes.get(name) ?? 0) + 1)

/** Refusals that this mix must meet: funds run out, and two clients may pick one record. */
const expected: ReadonlySet<string> = new Set([
  'INSUFFICIENT_FUNDS',
  'DEPOSIT_NOT_PENDING',
  'WITHDRAWAL_NOT_CANCELLABLE',
  'WITHDRAWAL_INVALID_STATE',
])
let faults = 0

const pick = <T>(list: readonly T[]): T | undefined => list[list.length === 0 ? 0 : randomInt(list.length)]
const amount = () => (randomInt(1, 20_000) / 100).toFixed(2)
const players: string[] = []
const deposits: string[] = []
const withdrawals: string[] = []

const steps: readonly (readonly [name: string, run: () => Promise<unknown>])[] = [
  [
    'create deposit',
    async () => {
      const body = { amount: amount(), currency: 'BRL', method: 'pix', externalReference: randomUUID() }
      deposits.push((await client.createDeposit(pick(players) ?? '', body)).id)
    },
  ],
  ['confirm deposit', async () => client.confirmDeposit(pick(deposits) ?? '')],
  ['confirm deposit', async () => client.confirmDeposit(pick(deposits) ?? '')],
  ['fail deposit', async () => client.failDeposit(pick(deposits) ?? '')],
  [
    'request withdrawal',
    async () => {
      const body = { amount: amount(), currency: 'BRL', method: 'pix', destination: 'ana@example.com' }
      withdrawals.push((await client.requestWithdrawal(pick(players) ?? '', body)).id)
    },
  ],
  ['cancel withdrawal', async () => client.cancelWithdrawal(pick(withdrawals) ?? '')],
  ['approve withdrawal', async () => client.decideWithdrawal(pick(withdrawals) ?? '', 'approve')],
  ['pay withdrawal', async () => client.decideWithdrawal(pick(withdrawals) ?? '', 'pay')],
  ['reject withdrawal', async () => client.decideWithdrawal(pick(withdrawals) ?? '', 'reject')],
]

async function register(): Promise<void> {
  const { id } = await client.registerPlayer(newPlayer())
  await client.decideKyc(id, 'aprovado')
  players.push(id)
}

async function randomStep(): Promise<void> {
  const [name, run] = (deposits.length < 50 ? steps[0] : pick(steps)) ?? steps[0] ?? ['', async () => {}]
  if (name.includes('withdrawal') && !name.startsWith('request') && withdrawals.length === 0) return randomStep()
  try {
    await run()
    count(`${name}: done`)
  } catch (error) {
    const code = error instanceof BackOfficeError ? error.code : 'no answer'
    count(`${name}: ${code}`)
    if (!expected.has(code)) faults += 1
  }
}

/** Every statement sums to `available`, to the last minor unit. */
async function statementsThatDiffer(): Promise<number> {
  let differ = 0
  for (const playerId of players) {
    let sum = 0n
    for await (const item of client.transactions(playerId)) sum += toMinorUnits(item.amount)
    const { available } = await client.getWallet(playerId)
    if (available !== fromMinorUnits(sum)) differ += 1
  }
  return differ
}

async function reconcile(): Promise<ReconciliationReport> {
  const { runId } = await team.call(operations.wallet.reconcileWallet, { input: {} })
  for (;;) {
    const { state, report, failure } = await team.call(operations.wallet.reconcileWallet, { input: { runId } })
    if (report !== null) return report
    if (state === 'failed') throw new Error(`the reconciliation failed: ${failure}`)
    await wait(200)
  }
}

const clients = Number(values.clients)
await inParallel({ count: Number(values.players), clients }, register)
const startedAt = performance.now()
await inParallel({ count: Number(values.operations), clients }, randomStep)
const seconds = (performance.now() - startedAt) / 1000
const differ = await statementsThatDiffer()
const { differencesTotal, inFlightTotal, checks } = await reconcile()
const report = {
  operations: Number(values.operations),
  clients,
  seconds: Number(seconds.toFixed(2)),
  perSecond: Math.round(Number(values.operations) / seconds),
  outcomes: Object.fromEntries([...outcomes].sort()),
  unexpected: faults,
  statementsThatDiffer: differ,
  reconciliation: {
    differences: differencesTotal,
    inFlight: inFlightTotal,
    compared: checks.reduce((sum, check) => sum + check.compared, 0),
  },
}
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`)
for (const end of endings.reverse()) await end()
process.exitCode = faults + differ + differencesTotal === 0 ? 0 : 1
