import { randomUUID } from 'node:crypto'
import { fromMinorUnits, toMinorUnits } from '@backoffice/contracts'
import { eventually, reconcile, refusal } from '@backoffice/test-kit'
import t from 'tap'
import { sweepIntents } from '../../src/withdrawals/request.ts'
import { type MoneyPath, moneyPath } from '../money-path.ts'
import { DoomedPayments } from './doomed-payments.ts'

const clients = 32
const operationsEach = 8
const unknownOutcomes: ReadonlySet<string> = new Set(['SERVICE_UNAVAILABLE', 'INTERNAL_ERROR'])

/** What the clients were told, in minor units by player. */
class Told {
  readonly #available = new Map<string, bigint>()
  readonly #reserved = new Map<string, bigint>()

  move(
    playerId: string,
    { available = 0n, reserved = 0n }: { readonly available?: bigint; readonly reserved?: bigint },
  ): void {
    this.#available.set(playerId, (this.#available.get(playerId) ?? 0n) + available)
    this.#reserved.set(playerId, (this.#reserved.get(playerId) ?? 0n) + reserved)
  }

  balance(playerId: string): string {
    const available = this.#available.get(playerId) ?? 0n
    return `${fromMinorUnits(available)} / ${fromMinorUnits(available - (this.#reserved.get(playerId) ?? 0n))}`
  }
}

/** As an operator's server does it: the same key until the outcome is known. Null: refused. */
async function untilKnown<T>(attempt: (operationId: string) => Promise<T>): Promise<T | null> {
  const operationId = randomUUID()
  return eventually(async () => {
    const call = attempt(operationId)
    const code = await refusal(call)
    if (code === null) return { value: await call }
    if (unknownOutcomes.has(code)) throw new Error(`still ${code}`)
    return { value: null }
  }, 60_000).then(({ value }) => value)
}

/** A deposit or a withdrawal, taken as far as chance will have it. */
async function step(path: MoneyPath, playerId: string, told: Told): Promise<void> {
  const amount = fromMinorUnits(BigInt(1 + Math.floor(Math.random() * 5_000)))
  const minor = toMinorUnits(amount)
  if (Math.random() < 0.5) {
    const externalReference = randomUUID()
    const deposit = await untilKnown((id) => path.createDeposit(playerId, { amount, externalReference }, id))
    if (deposit === null || Math.random() < 0.1) return
    const [confirmed] = await Promise.all([
      untilKnown((id) => path.confirm(deposit.id, id)),
      ...(Math.random() < 0.3 ? [untilKnown((operationId) => path.fail(deposit.id, { operationId }))] : []),
    ])
    if (confirmed !== null) told.move(playerId, { available: minor })
    return
  }
  const withdrawal = await untilKnown((id) => path.requestWithdrawal(playerId, { amount }, id))
  if (withdrawal === null) return
  told.move(playerId, { reserved: minor })
  const decide = (user: 'alice' | 'bob', decision: 'approve' | 'reject' | 'pay' | 'fail') =>
    untilKnown((operationId) => path.decide(user, withdrawal.id, decision, { operationId }))
  const chance = Math.random()
  const [cancelled, reviewed] = await Promise.all([
    chance < 0.4 ? untilKnown((id) => path.cancel(withdrawal.id, id)) : null,
    chance > 0.2 ? decide('alice', chance < 0.8 ? 'approve' : 'reject') : null,
  ])
  if (cancelled !== null || reviewed?.status === 'rejected') told.move(playerId, { reserved: -minor })
  if (reviewed?.status !== 'approved') return
  const ended = await decide('bob', Math.random() < 0.7 ? 'pay' : 'fail')
  if (ended !== null)
    told.move(playerId, { reserved: -minor, ...(ended.status === 'paid' ? { available: -minor } : {}) })
}

t.test(
  'mixed operations while a replica is killed and the wallet restarts: what clients were told is what the ledger says',
  async (t) => {
    const path = (await moneyPath(t)).in({ environment: 'production' })
    const playerIds = await Promise.all(Array.from({ length: 6 }, () => path.newPlayer()))
    const doomed = await DoomedPayments.start(t, path)
    const replica = await path.bed.start('payments')
    const told = new Told()
    let steps = 0
    const run = Array.from({ length: clients }, async (_, client) => {
      for (let index = 0; index < operationsEach; index++) {
        await step(path, playerIds[(client + index) % playerIds.length] ?? '', told)
        steps++
      }
    })
    await eventually(() => steps > (clients * operationsEach) / 4, 60_000)
    await doomed.kill()
    await doomed.leasesRunOut()
    await eventually(() => steps > (clients * operationsEach) / 2, 60_000)
    await path.bed.services.wallet.drain()
    await path.bed.start('wallet')
    await Promise.all(run)

    await doomed.leasesRunOut()
    await sweepIntents(replica, { abandonAfterMs: -1 })
    await eventually(async () => (await path.rows('select from outbox')).length === 0, 30_000)
    for (const playerId of playerIds) t.equal(await path.balance(playerId), told.balance(playerId))
    const report = await reconcile(path.bed.team('carol'))
    t.same(report.differences, [])
    t.same(report.inFlight, [])
  },
)
