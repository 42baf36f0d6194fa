import { operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { eventually, reconcile, refusal } from '@backoffice/test-kit'
import t from 'tap'
import { adjustment, Brand, bed, behindItsBack, run } from './brand.ts'
import { runOf } from './run.ts'

const { listReconciliations, reconcileWallet, recordRestore } = operations.reconciler
const alice = bed.team('alice')
const admin = bed.sql('admin')

async function fundedTimes(times: number): Promise<Brand> {
  const brand = await Brand.funded()
  for (let time = 1; time < times; time++) await brand.confirm(await brand.deposit(`${time}.00`))
  return brand
}

t.test('a run that the team asks for says what each check looked at', async (t) => {
  await (await Brand.funded()).approved()
  const { checks } = await reconcile(alice)
  t.equal(
    checks.map(({ check }) => check).join(' '),
    'balances chains sums checkpoints transfers counterparties corrections reversals holds deposits withdrawals ' +
      'histories decisions events accounts environments inFlight evidence signatures',
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
