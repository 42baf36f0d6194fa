import { randomUUID } from 'node:crypto'
import { fromMinorUnits, operations, type ReconciliationReport, type ServiceName } from '@backoffice/contracts'
import { eventually, refusal } from '@backoffice/test-kit'
import fc from 'fast-check'
import t from 'tap'
import { Brand, bed, run } from './brand.ts'

const { payments: pay, wallet: money } = operations

/** Everything that moves money, a few times each, in an order that the seed decides. */
async function mixedOperations(brands: readonly Brand[], seed: number): Promise<void> {
  const amounts = fc.integer({ min: 1, max: 900 }).map((cents) => fromMinorUnits(BigInt(cents)))
  const [drawn = []] = fc.sample(fc.array(fc.tuple(fc.nat(7), amounts), { minLength: 48, maxLength: 48 }), {
    seed,
    numRuns: 1,
  })
  const step = async (brand: Brand, kind: number, amount: string): Promise<void> => {
    const { scope, playerId } = brand
    const sandbox = scope.environment === 'sandbox'
    if (kind === 0) return void (await brand.register())
    if (kind === 1) return brand.confirm(await brand.deposit(amount))
    if (kind === 2)
      return void (await bed.rpc.call(pay.failDeposit, { scope, input: { depositId: await brand.deposit(amount) } }))
    if (kind === 3) {
      const input = { playerId, amount, reference: randomUUID(), reason: 'goodwill' }
      const { transferId } = await bed.team('alice').call(money.adjustWallet, { input })
      const reversal = { playerId, transferId, reference: randomUUID(), reason: 'the wrong player' }
      return void (await bed.team('bob').call(money.reverseTransfer, { input: reversal }))
    }
    const withdrawalId = await brand.request(amount)
    if (kind === 4) return void (await bed.rpc.call(pay.cancelWithdrawal, { scope, input: { withdrawalId } }))
    if (kind === 5) return brand.decide('bob', withdrawalId, 'reject')
    if (sandbox) {
      const decide = (decision: 'approve' | 'pay') =>
        bed.rpc.call(pay.decideWithdrawalInSandbox, { scope, input: { withdrawalId, decision } })
      await decide('approve')
      return void (await decide('pay'))
    }
    await brand.decide('alice', withdrawalId, 'approve')
    await brand.decide('bob', withdrawalId, kind === 6 ? 'pay' : 'fail')
  }
  await Promise.all(
    drawn.map(async ([kind, amount], index) => {
      // A withdrawal that the balance of that moment does not cover is refused, which is an outcome as good as any.
      const code = await refusal(step(brands[index % brands.length] as Brand, kind, amount))
      if (code !== null && code !== 'INSUFFICIENT_FUNDS') throw new Error(`${code} of step ${kind}`)
    }),
  )
}

/** Which differences are there already: other files of this process have forged some. @returns those that a report adds */
async function known(): Promise<(report: ReconciliationReport) => readonly string[]> {
  const named = ({ differences }: ReconciliationReport) =>
    differences.map(({ check, subject }) => `${check} ${subject}`)
  const before = new Set(named(await run(false)))
  return (report) => named(report).filter((name) => !before.has(name))
}

t.test('mixed operations leave no difference, neither while they are under way nor afterwards', async (t) => {
  const brands = await Promise.all([Brand.funded(), Brand.funded('sandbox'), Brand.funded()])
  const added = await known()
  let isOver = false
  const busy = mixedOperations(brands, 20_260_302).finally(() => {
    isOver = true
  })
  busy.catch(() => {})
  // A full and an incremental one in turn.
  for (let isFull = false; !isOver; isFull = !isFull) t.same(added(await run(isFull)), [])
  await busy
  for (const isFull of [false, true]) {
    const report = await run(isFull)
    t.same(added(report), [])
    // The last run beside the operations may have left the incremental one no entry to follow.
    for (const { check, compared } of report.checks)
      if (isFull && !/sums|inFlight|evidence/.test(check)) t.ok(compared > 0, check)
  }
})

t.test('what the wallet has not done yet is in flight and no difference', async (t) => {
  const brand = await Brand.funded()
  const [depositId, withdrawalId] = [await brand.deposit('5.00'), await brand.request('5.00')]
  const added = await known()
  await bed.services.wallet.drain()
  t.equal(await refusal(brand.confirm(depositId)), 'SERVICE_UNAVAILABLE')
  const cancelling = bed.rpc.call(pay.cancelWithdrawal, { scope: brand.scope, input: { withdrawalId } })
  t.equal(await refusal(cancelling), 'SERVICE_UNAVAILABLE')
  t.equal(await refusal(brand.request('6.00')), 'SERVICE_UNAVAILABLE')
  t.equal(await refusal(brand.register()), 'SERVICE_UNAVAILABLE')
  const report = await run()
  t.same(added(report), [])
  const commands = report.inFlight.map(({ service, name }) => `${service} ${name}`).sort()
  t.same(
    commands.filter((name) => !/_changed|confirmed/.test(name)),
    ['payments intent', 'payments wallet.creditAccount', 'payments wallet.releaseHold', 'players wallet.openAccount'],
  )
  await bed.start('wallet')
  // The relays take over what the requests have left.
  const rest = (service: ServiceName) => bed.sql(service).query("select from outbox where kind = 'command'")
  for (const service of ['payments', 'players'] as const)
    await eventually(async () => (await rest(service)).rowCount === 0)
  t.same(added(await run()), [])
})
