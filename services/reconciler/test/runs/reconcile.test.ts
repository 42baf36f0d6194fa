// In a process of its own: it counts what is in flight, and files that share its system leave forged commands there.

import { randomUUID } from 'node:crypto'
import { fromMinorUnits, operations, type ReconciliationReport, type ServiceName } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { eventually, postgres, reconcile, refusal } from '@backoffice/test-kit'
import fc from 'fast-check'
import t from 'tap'
import { Findings } from '../../src/reconciliation/findings.ts'
import { RecordChecks } from '../../src/reconciliation/record-checks.ts'
import { Snapshots } from '../../src/reconciliation/snapshots.ts'
import { adjustment, Brand, bed, behindItsBack, playAll, run } from '../checks/brand.ts'
import { runOf } from './run.ts'

const { payments: pay, wallet: money } = operations
const { listReconciliations, reconcileWallet, recordRestore } = operations.reconciler
const alice = bed.team('alice')
const admin = bed.sql('admin')

async function fundedTimes(times: number): Promise<Brand> {
  const brand = await Brand.funded()
  for (let time = 1; time < times; time++) await brand.confirm(await brand.deposit(`${time}.00`))
  return brand
}

const { signal } = new AbortController()
const snapshots = await Snapshots.connect(await postgres(), { statementMsMax: 60_000, signal })
t.teardown(() => snapshots.close())

t.test('a run that the team asks for says what each check looked at', async (t) => {
  await (await Brand.funded()).approved()
  const { checks } = await reconcile(alice)
  t.equal(
    checks.map(({ check }) => check).join(' '),
    'balances chains sums checkpoints transfers counterparties corrections reversals holds deposits withdrawals ' +
      'histories decisions events accounts environments plays rounds admissions playDays inFlight evidence signatures',
  )
  for (const name of ['balances', 'chains', 'transfers', 'holds', 'deposits', 'withdrawals'])
    t.ok((checks.find(({ check }) => check === name)?.compared ?? 0) > 0, name)
})

t.test('differences of the sandbox are told from those of production', async (t) => {
  const before = (await run()).differencesIn
  const [played, real] = [await Brand.funded('sandbox'), await Brand.funded()]
  for (const brand of [played, real]) await brand.post(adjustment)
  const { differences, differencesIn } = await run()
  const environmentsOf = ({ scope }: Brand) =>
    differences.filter(({ brandId }) => brandId === scope.brandId).map(({ environment }) => environment)
  t.same([environmentsOf(played), environmentsOf(real)], [['sandbox'], ['production']])
  t.same(differencesIn, { sandbox: before.sandbox + 1, production: before.production + 1 })
})

t.test('the chains are followed beyond one page, and to their ends', async (t) => {
  const brands = [await fundedTimes(5), await fundedTimes(5)]
  const subjects = async (entries: number, keys = 1_000) => {
    const { differences, checks } = await runOf(bed, { pages: { keys, entries } })
    const broken = differences.filter(({ check }) => check === 'chains').map(({ subject }) => subject.split(' ', 1)[0])
    const ours = brands.filter(({ playerId }) => broken.includes(playerId))
    return { compared: checks.find(({ check }) => check === 'chains')?.compared ?? 0, ours }
  }
  const { compared, ours } = await subjects(3)
  t.same(ours, [])
  await behindItsBack(
    `update wallet.transfer t set reason = 'another' from wallet.entry e join wallet.account a on a.id = e.account_id
    where t.id = e.transfer_id and e.seq = 5 and a.owner_id = any($1)`,
    [brands.map(({ playerId }) => playerId)],
  )
  for (const entries of [1, 4, compared])
    t.same(await subjects(entries), { compared, ours: brands }, `${entries} entries at once`)
  t.same(await subjects(3, 5), { compared, ours: brands }, 'and five accounts at once')
})

t.test('pages of entries go on where the numbers of transactions get another digit', async (t) => {
  const { brandId } = (await fundedTimes(7)).scope
  // As if these had been the server's transactions 97 to 103.
  await behindItsBack(
    `update wallet.entry e set xid = n.xid::text::xid8 from (
      select transfer_id, 96 + row_number() over (order by xid) as xid
      from wallet.entry e join wallet.account a on a.id = e.account_id where a.brand_id = $1 and a.owner_id is null
    ) n where n.transfer_id = e.transfer_id`,
    [brandId],
  )
  const { differences, checks } = await runOf(bed, { pages: { keys: 5, entries: 3 } })
  // Checkpoints of before that know nothing of it, if there are any.
  const found = differences.filter((difference) => difference.brandId === brandId && difference.check !== 'checkpoints')
  t.same(found, [])
  t.ok(checks.some(({ check, compared }) => check === 'sums' && compared > 0))
})

t.test('a currency whose entries do not sum to zero is named', async () => {
  const { brandId } = (await Brand.funded()).scope
  await behindItsBack(
    'delete from wallet.entry e using wallet.account a where a.id = e.account_id and a.owner_id is null and a.brand_id = $1',
    [brandId],
  )
  // The sum counts transactions that have ended, and those of other tests on the same server have to end first.
  await eventually(async () =>
    (await run()).differences.some(
      (found) => found.check === 'sums' && found.brandId === brandId && found.subject === 'BRL',
    ),
  )
})

t.test('a run is begun once per operation id and can be asked for again', async (t) => {
  const operationId = newId('opn')
  const first = await alice.call(reconcileWallet, { input: {}, operationId })
  const second = await alice.call(reconcileWallet, { input: {}, operationId })
  t.equal(first.runId, second.runId)
  await eventually(async () => (await alice.call(reconcileWallet, { input: { runId: first.runId } })).state === 'done')
  const unknown = alice.call(reconcileWallet, { input: { runId: 'opn_unknown' } })
  t.equal(await refusal(unknown), 'RECONCILIATION_NOT_FOUND')
})

t.test('runs are listed, newest first, with what became of them', async (t) => {
  // In the future, so that they are the newest.
  const row = (id: string, state: string, report: object | null, heartbeat: string) => [id, state, report, heartbeat]
  const year = new Date().getFullYear() + 1
  const [before, later] = [`${year}-01-01T00:00:00Z`, `${year}-01-02T00:00:00Z`]
  const report = { differencesIn: { production: 1, sandbox: 2 } }
  for (const values of [
    row('opn_before', 'done', { differencesIn: { production: 3, sandbox: 0 } }, before),
    row('opn_silent', 'running', null, '2026-01-01T00:00:00Z'),
    row('opn_told_apart', 'done', report, later),
  ])
    await admin.query(
      `insert into reconciler.reconciliation (id, started_by, started_at, heartbeat_at, state, progress, report, is_full)
      values ($1, 'schedule', greatest($4::timestamptz, '${before}'), $4, $2, '{}', $3, $1 <> 'opn_told_apart')`,
      values,
    )
  const list = async (input: object) => (await alice.call(listReconciliations, { input: { limit: 2, ...input } })).data
  const newest = await list({})
  t.match(newest, [
    { runId: 'opn_told_apart', state: 'done', kind: 'incremental', differencesIn: { production: 1, sandbox: 2 } },
    { runId: 'opn_silent', state: 'failed', startedBy: 'schedule', endedAt: null, differencesIn: null },
  ])
  t.match((await list({ before: 'opn_silent' }))[0], {
    runId: 'opn_before',
    kind: 'full',
    endedAt: before.replace('Z', '.000Z'),
    differencesIn: { production: 3, sandbox: 0 },
  })
  await admin.query(`delete from reconciler.reconciliation where started_at >= '${before}'`)
})

// By it corrections are judged, whatever the wallet wrote as their time.
t.test('the service cannot say in which transaction or when a run began, and keeps what was said', async (t) => {
  const own = bed.sql('reconciler')
  const refused = { message: /permission denied/ }
  await t.rejects(own.query("insert into moment (run_id, xid) values ('opn', '3')"), refused)
  await t.rejects(own.query("insert into moment (run_id, at) values ('opn', '2020-01-01')"), refused)
  await own.query("insert into moment (run_id) values ('opn')")
  await t.rejects(own.query('delete from moment'), refused)
  await t.rejects(own.query("update moment set run_id = ''"), refused)
})

t.test('a restore is recorded only where heads are exported', async (t) => {
  const input = { restoredTo: '2026-03-02T12:00:00.000Z', reason: 'the disks were lost' }
  t.equal(await refusal(alice.call(recordRestore, { input })), 'VALIDATION_ERROR')
  const { rows } = await bed
    .sql('reconciler')
    .query("select from audit_entry where operation = 'recordRestore' and outcome = 'done'")
  t.equal(rows.length, 0, 'and nobody is said to have recorded one')
})

/** Everything that moves money, a few times each, in an order that the seed decides. */
async function mixedOperations(brands: readonly Brand[], seed: number): Promise<void> {
  const amounts = fc.integer({ min: 1, max: 900 }).map((cents) => fromMinorUnits(BigInt(cents)))
  const [drawn = []] = fc.sample(fc.array(fc.tuple(fc.nat(9), amounts), { minLength: 48, maxLength: 48 }), {
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
    if (kind === 8) return playAll(brand, randomUUID())
    if (kind === 9) return raceForBet(brand, amount)
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

/** A bet, its rollback and a bet of the same name at once: none is left, whichever comes first. */
async function raceForBet(brand: Brand, amount: string): Promise<void> {
  const id = randomUUID()
  const bet = () => refusal(brand.bet(id, amount, { roundId: id }))
  await Promise.all([bet(), brand.rollback(id, id), bet()])
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
      if (isFull && !/sums|playDays|inFlight|evidence/.test(check)) t.ok(compared > 0, check)
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

// Of two databases a record is looked at again.

/** What is reported of a record when each look finds it as `seen` says; null: nothing differs. */
async function reported(isOfTwo: boolean, seen: (look: number) => string | null) {
  const findings = new Findings(['deposits'])
  let looks = 0
  const find = async () => {
    const actual = seen(++looks)
    const found = { brandId: null, subject: 'dep_1', expected: 'a credit', explanation: '' }
    return actual === null ? [] : [{ key: 'dep_1', found: { ...found, actual } }]
  }
  const question = { check: 'deposits', kind: 'deposit', counts: true, find } as const
  const recordChecks = new RecordChecks({ questions: [question], findings, since: null, isOfTwo })
  await snapshots.see((db) => recordChecks.examine(db, 'deposit', ['dep_1']))
  await recordChecks.lookAgain(snapshots, 10)
  const { checks, differences } = findings.report(() => 'production')
  return { looks, differences: differences.map(({ actual }) => actual), compared: checks[0]?.compared }
}

t.test('in one database a record and what it is compared with are of one moment: one look says all', async (t) => {
  t.same(await reported(false, () => 'none'), { looks: 1, differences: ['none'], compared: 1 })
})

t.test('in two, what was under way is not there at the next look, and is no difference', async (t) => {
  t.same(await reported(true, (look) => (look === 1 ? 'none' : null)), { looks: 2, differences: [], compared: 1 })
})

t.test('in two, a difference is what two looks find alike', async (t) => {
  t.same(await reported(true, () => 'none'), { looks: 2, differences: ['none'], compared: 1 })
  const changed = (look: number) => (look === 1 ? 'none' : 'another amount')
  t.same(await reported(true, changed), { looks: 3, differences: ['another amount'], compared: 1 })
})

t.test('who changes a record at each look hides nothing', async (t) => {
  t.same(await reported(true, String), { looks: 5, differences: ['5'], compared: 1 })
})
