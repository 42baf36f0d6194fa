import { operations, type ReconciliationReport, type Rejection } from '@backoffice/contracts'
import { migrate } from '@backoffice/migrator/schema'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { newId } from '@backoffice/process'
import { eventually, refusal, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { aloneUpToAnything } from '../../../wallet/test/alone.ts'
import { reconciler } from '../../src/service.ts'
import { runOf, behindItsBack as tamper } from './run.ts'

const bed = await testBed(
  t,
  { wallet, reconciler },
  { config: { wallet: aloneUpToAnything, reconciler: aloneUpToAnything } },
)
// The tables that the ledger is compared with, as their services make them.
for (const { name: service, migrations } of [payments, players])
  await migrate({ service, migrations, url: bed.databaseUrl })

const { adjustWallet, captureHold, creditAccount, openHold, releaseHold, reverseTransfer } = operations.wallet
const { listReconciliations, reconcileWallet } = operations.reconciler
const alice = bed.team('alice')
const admin = bed.sql('admin')
const effectiveAt = '2026-03-02T12:00:00.000Z'

/** What became of a hold; a refused one is released too, as the sweeper of intents does. */
type Fate = 'none' | 'open' | 'captured' | 'released' | 'refused'

/** The history of each status. What an intent comes to without becoming a withdrawal has none. */
const withdrawalWays: Readonly<Record<string, readonly string[]>> = {
  under_review: ['under_review'],
  approved: ['under_review', 'approved'],
  paid: ['under_review', 'approved', 'paid'],
  failed: ['under_review', 'approved', 'failed'],
  rejected: ['under_review', 'rejected'],
  cancelled: ['under_review', 'cancelled'],
}

/** Each test has a brand of its own, and looks at that brand's differences only. */
function brand() {
  const scope = bed.scope({ brandId: newId('brd') })
  const { brandId } = scope
  const playerId = newId('ply')
  /** The history of a record, and what operators were told of it. */
  async function history(id: string, statuses: readonly string[], amount: string): Promise<void> {
    for (const [index, status] of statuses.entries()) {
      const version = index + 1
      await behindItsBack(
        `insert into payments.status_transition (record_id, version, from_status, to_status, at, by_kind, by_name, operation_id)
        values ($1, $2, $3, $4, now(), 'sandbox', 'op', $1)`,
        [id, version, statuses[index - 1] ?? null, status],
      )
      const name = status === 'confirmed' ? 'deposit.confirmed' : 'withdrawal.status_changed'
      const event = {
        id: newId('evt'),
        type: name,
        brandId,
        environment: 'sandbox',
        data: { id, playerId, status, amount, version },
      }
      if (version > 1 && !(id.startsWith('dep_') && status === 'failed'))
        await admin.query('insert into payments.published_event (published_at, id, message) values (now(), $1, $2)', [
          event.id,
          JSON.stringify({ event }),
        ])
    }
  }
  return {
    brandId,
    playerId,
    async deposit(amount: string, { status = 'confirmed', credited = amount as string | null } = {}): Promise<string> {
      await bed.register(scope)
      const depositId = newId('dep')
      await admin.query(
        `insert into payments.deposit (id, brand_id, operator_id, environment, time_zone, player_id, external_reference, amount,
          currency, method, status, version, created_at, confirmed_at, failed_at)
        values ($1, $2, 'op', 'sandbox', 'UTC', $3, $1, $4::numeric * 100, 'BRL', 'pix', $5,
          case when $5 = 'pending' then 1 else 2 end, now(),
          case when $5 = 'confirmed' then now() end, case when $5 = 'failed' then now() end)`,
        [depositId, brandId, playerId, amount, status],
      )
      await history(depositId, status === 'pending' ? [status] : ['pending', status], amount)
      if (credited !== null)
        await bed.rpc.call(creditAccount, { scope, input: { playerId, depositId, amount: credited, effectiveAt } })
      return depositId
    },
    async withdrawal(amount: string, status: string, fate: Fate): Promise<string> {
      await bed.register(scope)
      const withdrawalId = newId('wdr')
      const statuses = withdrawalWays[status] ?? []
      await admin.query(
        `insert into payments.withdrawal (id, operation_id, brand_id, operator_id, environment, time_zone, player_id, amount,
          currency, method, destination, status, version, created_at, updated_at, paid_at,
          dropped_at)
        values ($1, $1, $2, 'op', 'sandbox', 'UTC', $3, $4::numeric * 100, 'BRL', 'pix', 'x', $5, $6, now(), now(),
          case when $5 = 'paid' then now() end, case when $5 = 'abandoned' then now() end)`,
        [withdrawalId, brandId, playerId, amount, status, statuses.length],
      )
      await history(withdrawalId, statuses, amount)
      const input = { playerId, withdrawalId }
      if (fate !== 'none') {
        const refused = await refusal(bed.rpc.call(openHold, { scope, input: { ...input, amount } }))
        t.equal(refused, fate === 'refused' ? 'INSUFFICIENT_FUNDS' : null)
      }
      if (fate === 'captured') await bed.rpc.call(captureHold, { scope, input: { ...input, effectiveAt } })
      if (fate === 'released' || fate === 'refused') await bed.rpc.call(releaseHold, { scope, input })
      return withdrawalId
    },
    /** A command of payments to the wallet that has not been finished. */
    async unfinished(aggregate: string, ageSeconds: number): Promise<void> {
      await admin.query(
        `insert into payments.outbox (id, aggregate, aggregate_seq, kind, name, message, environment, operation_id, created_at)
        values ($1, $2, 1, 'command', 'wallet.creditAccount', $3, 'sandbox', $1, now() - make_interval(secs => $4))`,
        [newId('cmd'), aggregate, JSON.stringify({ scope, input: {} }), ageSeconds],
      )
    },
    /** What a full run finds. An incremental one before it finds the same. */
    async differences() {
      const [incremental, full] = [await run(false), await run()].map(({ differences }) =>
        differences.filter((found) => found.brandId === brandId),
      )
      // Between the two runs transactions of others may end, which a sum then counts, and what is in flight grows older.
      const named = (found: typeof full) =>
        (found ?? [])
          .filter(({ check }) => check !== 'sums' && check !== 'inFlight')
          .map(({ check, subject }) => `${check} ${subject}`)
      t.same(named(incremental).sort(), named(full).sort(), 'an incremental run finds the same')
      return full ?? []
    },
  }
}

async function run(full = true): Promise<ReconciliationReport> {
  let { runId, report, state, failure } = await alice.call(reconcileWallet, { input: { full } })
  if (state === 'running') {
    await eventually(async () => {
      ;({ report, state, failure } = await alice.call(reconcileWallet, { input: { runId } }))
      return state !== 'running'
    })
  }
  if (report === null) throw new Error(`no report: ${failure}`)
  return report
}

const behindItsBack = (statement: string, values: readonly unknown[]) => tamper(admin, statement, values)

t.test('money that went its proper ways leaves no difference', async (t) => {
  const { playerId, deposit, withdrawal, differences } = brand()
  await deposit('100.00')
  await deposit('5.00', { status: 'pending', credited: null })
  await deposit('6.00', { status: 'failed', credited: null })
  await withdrawal('10.00', 'under_review', 'open')
  await withdrawal('11.00', 'approved', 'open')
  await withdrawal('12.00', 'paid', 'captured')
  await withdrawal('13.00', 'rejected', 'released')
  await withdrawal('14.00', 'cancelled', 'released')
  await withdrawal('15.00', 'failed', 'released')
  await withdrawal('16.00', 'intent', 'open')
  const adjustment = { playerId, amount: '3.00', reference: 'a', reason: 'gift' }
  const { transferId } = await alice.call(adjustWallet, { input: adjustment })
  await alice.call(reverseTransfer, { input: { transferId, reference: 'b', reason: 'wrong player' } })
  t.same(await differences(), [])
})

t.test('a report says what each check looked at', async (t) => {
  const { checks } = await run()
  t.same(
    checks.map(({ check }) => check),
    [
      'balances',
      'chains',
      'sums',
      'checkpoints',
      'transfers',
      'counterparties',
      'corrections',
      'reversals',
      'holds',
      'deposits',
      'withdrawals',
      'histories',
      'decisions',
      'events',
      'accounts',
      'environments',
      'inFlight',
      'evidence',
      'signatures',
    ],
  )
  for (const name of ['balances', 'chains', 'transfers', 'holds', 'deposits', 'withdrawals'])
    t.ok((checks.find(({ check }) => check === name)?.compared ?? 0) > 0, name)
})

t.test('a confirmed deposit without its credit is a difference', async (t) => {
  const { deposit, differences } = brand()
  const depositId = await deposit('10.00', { credited: null })
  t.match(await differences(), [{ check: 'deposits', subject: depositId, actual: 'no credit' }])
})

t.test('a credit of another amount, of a pending deposit or of none is a difference', async (t) => {
  const { deposit, differences } = brand()
  const wrong = await deposit('10.00', { credited: '10.01' })
  const pending = await deposit('7.00', { status: 'pending' })
  t.same((await differences()).map(({ subject }) => subject).sort(), [wrong, pending].sort())
  await behindItsBack('delete from payments.deposit where id = any($1)', [[wrong, pending]])
  t.same(
    (await differences()).filter(({ check }) => check === 'deposits').map(({ expected }) => expected),
    ['no credit: there is no such deposit', 'no credit: there is no such deposit'],
  )
})

t.test('an unfinished command is in flight for five minutes, and then a difference', async (t) => {
  const { deposit, unfinished, differences } = brand()
  const young = await deposit('10.00', { credited: null })
  // Far enough from the limit for a busy machine.
  await unfinished(young, 200)
  t.same(await differences(), [])
  t.match(
    (await run()).inFlight.find(({ subject }) => subject === young),
    { service: 'payments', name: 'wallet.creditAccount' },
  )
  const old = await deposit('10.00', { credited: null })
  await unfinished(old, 302)
  t.match(await differences(), [{ check: 'inFlight', subject: old }])
})

for (const [status, fate] of [
  ['under_review', 'none'],
  ['under_review', 'released'],
  ['approved', 'captured'],
  ['paid', 'open'],
  ['paid', 'none'],
  ['cancelled', 'open'],
  ['rejected', 'captured'],
] as const)
  t.test(`a withdrawal that is ${status} with a hold that is ${fate} is a difference`, async (t) => {
    const { deposit, withdrawal, differences } = brand()
    await deposit('100.00')
    const withdrawalId = await withdrawal('10.00', status, fate)
    t.match(await differences(), [{ check: 'withdrawals', subject: withdrawalId }])
  })

t.test(
  'an intent that was abandoned after its hold was refused is no difference, one that still holds money is',
  async (t) => {
    const { playerId, deposit, withdrawal, differences } = brand()
    await deposit('10.00')
    const refused = await withdrawal('10.01', 'abandoned', 'refused')
    t.same(await differences(), [])
    const open = await withdrawal('5.00', 'abandoned', 'open')
    t.match(await differences(), [{ check: 'withdrawals', subject: open }])
    await behindItsBack('update payments.withdrawal set amount = amount + 1 where player_id = $1', [playerId])
    t.same((await differences()).map(({ subject }) => subject).sort(), [open, refused].sort())
  },
)

t.test('differences of the sandbox are told from those of production', async (t) => {
  const before = (await run()).differencesIn
  const [played, real] = [brand(), brand()]
  await played.deposit('10.00', { credited: null })
  const depositId = await real.deposit('20.00', { credited: null })
  await behindItsBack("update wallet.brand set environment = 'production' where id = $1", [real.brandId])
  await behindItsBack("update payments.deposit set environment = 'production' where id = $1", [depositId])
  await behindItsBack(
    "update payments.published_event set message = jsonb_set(message::jsonb, '{event,environment}', '\"production\"') where message #>> '{event,data,id}' = $1",
    [depositId],
  )
  const { differences, differencesIn } = await run()
  const environmentsOf = ({ brandId }: { brandId: string }) =>
    differences.filter((found) => found.brandId === brandId).map(({ environment }) => environment)
  t.same(environmentsOf(played), ['sandbox'])
  const ofReal = environmentsOf(real)
  t.same(new Set(ofReal), new Set(['production']))
  t.same(differencesIn, { sandbox: before.sandbox + 1, production: before.production + ofReal.length })
})

t.test('a changed balance is named', async (t) => {
  const { playerId, deposit, differences } = brand()
  await deposit('10.00')
  await behindItsBack('update wallet.account set posted = posted + 1 where owner_id = $1', [playerId])
  t.match(await differences(), [
    {
      check: 'balances',
      subject: playerId,
      expected: 'posted 1000, held 0, entries 1',
      actual: 'posted 1001, held 0, entries 1',
    },
  ])
})

t.test('a changed hold is named', async (t) => {
  const { playerId, deposit, withdrawal, differences } = brand()
  await deposit('10.00')
  await withdrawal('5.00', 'under_review', 'open')
  await behindItsBack('update wallet.account set held = 0 where owner_id = $1', [playerId])
  t.match(await differences(), [{ check: 'balances', subject: playerId }])
})

t.test('an edited entry, an edited transfer and a removed entry break the chain', async (t) => {
  for (const tamper of [
    `update wallet.transfer set reason = 'another reason' where reference = $1`,
    `update wallet.transfer set effective_at = effective_at + interval '1 ms' where reference = $1`,
    `update wallet.entry set balance = balance + 1 where transfer_id = (select id from wallet.transfer where reference = $1) and seq is not null`,
    `delete from wallet.entry where transfer_id = (select id from wallet.transfer where reference = $1) and seq is not null`,
  ]) {
    const { deposit, differences } = brand()
    await deposit('1.00')
    const victim = await deposit('2.00')
    await deposit('3.00')
    await behindItsBack(tamper, [victim])
    t.ok(
      (await differences()).some(({ check }) => check === 'chains'),
      tamper,
    )
  }
})

t.test('the chains are followed beyond one page, and to their ends', async (t) => {
  const [first, second] = [brand(), brand()]
  const victims = []
  for (const { deposit } of [first, second]) {
    for (const amount of ['1.00', '2.00', '3.00', '4.00']) await deposit(amount)
    victims.push(await deposit('5.00'))
  }
  const subjects = async (entries: number) => {
    const { differences, checks } = await runOf(bed, { pages: { keys: 3, entries } })
    const compared = checks.find(({ check }) => check === 'chains')?.compared ?? 0
    const ours = differences.filter(
      ({ check, brandId }) => check === 'chains' && [first.brandId, second.brandId].includes(brandId ?? ''),
    )
    return { compared, ours: ours.map(({ subject }) => subject.split(' ', 1)[0]).sort() }
  }
  const { compared, ours } = await subjects(3)
  t.same(ours, [])
  await behindItsBack('update wallet.transfer set reason = $2 where reference = any($1)', [victims, 'another reason'])
  for (const entries of [1, 2, 3, 5, compared, compared + 1])
    t.same(
      await subjects(entries),
      { compared, ours: [first.playerId, second.playerId].sort() },
      `${entries} entries at once`,
    )
})

t.test('pages of entries go on where the numbers of transactions get another digit', async (t) => {
  const { brandId, deposit } = brand()
  for (const amount of ['1.00', '2.00', '4.00', '8.00', '16.00', '32.00', '64.00']) await deposit(amount)
  // As if these had been the server's transactions 97 to 103.
  await behindItsBack(
    `update wallet.entry e set xid = n.xid::text::xid8 from (
      select transfer_id, 96 + row_number() over (order by xid) as xid
      from wallet.entry e join wallet.account a on a.id = e.account_id where a.brand_id = $1 and a.owner_id is null
    ) n where n.transfer_id = e.transfer_id`,
    [brandId],
  )
  const { differences, checks } = await runOf(bed, { pages: { keys: 2, entries: 3 } })
  // Checkpoints of before that know nothing of it, if there are any.
  const found = differences.filter((difference) => difference.brandId === brandId && difference.check !== 'checkpoints')
  t.same(found, [])
  t.ok(checks.some(({ check, compared }) => check === 'sums' && compared > 0))
})

t.test('two entries that changed places break the chain', async (t) => {
  const { playerId, deposit, differences } = brand()
  for (const amount of ['1.00', '1.00', '1.00']) await deposit(amount)
  await behindItsBack(
    `update wallet.entry e set transfer_id = (select transfer_id from wallet.entry o where o.account_id = e.account_id and o.seq = 3 - e.seq)
    from wallet.account a where a.id = e.account_id and a.owner_id = $1 and e.seq in (1, 2)`,
    [playerId],
  )
  t.ok((await differences()).some(({ check }) => check === 'chains'))
})

t.test('a transfer with one side missing is named', async (t) => {
  const { deposit, differences } = brand()
  const victim = await deposit('7.77')
  await behindItsBack(
    'delete from wallet.entry where transfer_id = (select id from wallet.transfer where reference = $1) and seq is null',
    [victim],
  )
  t.ok((await differences()).some(({ check }) => check === 'transfers'))
  // The sum counts transactions that have ended, and those of other tests on the same server have to end first.
  await eventually(
    async () => (await differences()).some(({ check, subject }) => check === 'sums' && subject === 'BRL'),
    120_000,
  )
})

t.test('a run is begun once per operation id and can be asked for again', async (t) => {
  const operationId = newId('opn')
  const first = await alice.call(reconcileWallet, { input: {}, operationId })
  const second = await alice.call(reconcileWallet, { input: {}, operationId })
  t.equal(first.runId, second.runId)
  await eventually(async () => (await alice.call(reconcileWallet, { input: { runId: first.runId } })).state === 'done')
  const unknown = await alice
    .call(reconcileWallet, { input: { runId: 'opn_unknown' } })
    .catch((error: Rejection) => error.code)
  t.equal(unknown, 'RECONCILIATION_NOT_FOUND')
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

t.test(
  'the role that reconciles reads the ledger and what is shown to it, and writes to its own schema alone',
  async (t) => {
    const role = bed.sql('reconciler')
    await t.resolves(role.query('select count(*) from wallet.entry'))
    await t.resolves(role.query('select count(*) from payments.reconcilable_deposit'))
    await t.resolves(role.query('select id, brand_id from players.reconcilable_player'))
    for (const hidden of [
      ...['payments.deposit', 'payments.withdrawal', 'payments.outbox', 'players.player', 'players.kyc_submission'],
      ...[
        'wallet.operation',
        'wallet.team_session',
        'wallet.audit_entry',
        'players.audit_evidence',
        'players.operation',
      ],
    ])
      await t.rejects(role.query(`select from ${hidden}`), /permission denied/, hidden)
    await t.rejects(role.query('update wallet.account set posted = posted'), /permission denied/)
    await t.rejects(role.query('delete from payments.outbox'), /permission denied/)
    await t.rejects(role.query('create table wallet.mine ()'), /permission denied/)
  },
)
