// proof: proves whole ledgers, in parts. What is false in a run, incremental, restored and forged-*.test.ts find.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { operations, type ReconciliationReport } from '@backoffice/contracts'
import { dayMs, firstId, newId } from '@backoffice/process'
import { eventually, TestTime } from '@backoffice/test-kit'
import t from 'tap'
import { exportHeads } from '../../src/background/export-heads.ts'
import { folderStore } from '../../src/heads/store.ts'
import { lastReconciliation } from '../../src/measurements.ts'
import type { ReconcileOptions } from '../../src/reconciliation/reconcile.ts'
import { ended, ledgerBed, runOf, behindItsBack as tamper } from './run.ts'

const time = new TestTime()
const bed = await ledgerBed(t, { time, config: { wallet: { CHECKPOINT_EVERY_MS: 3_600_000 } } })
const admin = bed.sql('admin')
const behindItsBack = (statement: string, values: readonly unknown[] = []) => tamper(admin, statement, values)
const scope = bed.scope()
const everyMs = 3_600_000
const all = 128

const run = async (options: Partial<ReconcileOptions> = {}) => {
  await ended(admin)
  return runOf(bed, { workers: 3, ...options })
}

/** Credits of a player, which nothing else knows of. @returns their references */
async function credit(playerId: string, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('dep'))
  for (const depositId of ids) {
    const input = { playerId, depositId, amount: '1.00', effectiveAt: new Date().toISOString() }
    await bed.rpc.call(operations.wallet.creditAccount, { scope, input })
  }
  return ids
}

const changeReason = (reference: string | undefined, reason: string | null) =>
  behindItsBack('update wallet.transfer set reason = $2 where reference = $1', [reference, reason])

/** The checks that name a player, other than that there is no deposit for the credits. */
const foundOf = ({ differences }: ReconciliationReport, playerId: string) => [
  ...new Set(
    differences
      .filter(({ check, subject }) => check !== 'deposits' && subject.startsWith(playerId))
      .map(({ check }) => check),
  ),
]

t.test(
  'parts prove all that there is, each as much as it is told, those first whose proof is the oldest',
  async (t) => {
    const playerId = newId('ply')
    const [first] = await credit(playerId, 3)
    t.match(await run({ piecesMax: 1 }), { kind: 'full' }, 'without a run before there is no part')
    t.not((await run({ isFull: false })).provenSince, null)
    await behindItsBack('delete from reconciler.proof where piece < 96')
    await changeReason(first, 'another')
    const reports: ReconciliationReport[] = []
    for (let part = 0; part < 2; part++) reports.push(await run({ piecesMax: 48 }))
    t.match(reports, [
      { kind: 'part', provenSince: null },
      { kind: 'part', provenSince: String },
    ])
    // The account is of one piece, and so is its transfer.
    const rest = await run({ piecesMax: 32 })
    t.equal(foundOf(rest, playerId).join(), 'chains')
    t.ok(new Date(rest.provenSince ?? 0) >= new Date(reports[0]?.snapshotAt ?? 0), 'the oldest ones were taken')
    await changeReason(first, null)
    t.same(foundOf(await run({ isFull: false }), playerId), [])
  },
)

t.test('each record and account belongs to a part, whatever it is called', async (t) => {
  const players = Array.from({ length: 20 }, () => newId('ply'))
  for (const playerId of players) await credit(playerId, 2)
  const last = '\u{10FFFF}'
  const odd = ['', 'trf_', 'trf_7z', 'trf_7zzzzzzzzz', `trf_7zzzz${last}`, `trf_7zzzz${last}z`, 'zzz', last, `${last}z`]
  await behindItsBack(
    `insert into wallet.transfer select (jsonb_populate_record(x.row, jsonb_build_object('id', odd, 'reference', odd))).*
    from (select t as row from wallet.transfer t limit 1) x, unnest($1::text[]) odd`,
    [odd],
  )
  const whole = await run()
  const parts: ReconciliationReport[] = []
  for (let part = 0; part < 4; part++) parts.push(await run({ piecesMax: all / 4 }))
  const compared = ({ checks }: ReconciliationReport, name: string) =>
    checks.find(({ check }) => check === name)?.compared ?? 0
  for (const check of ['transfers', 'balances'])
    t.ok(parts.reduce((sum, report) => sum + compared(report, check), 0) >= compared(whole, check), check)
  const named = new Set(parts.flatMap(({ differences }) => differences).map(({ subject }) => subject))
  t.same(
    whole.differences.filter(({ subject }) => !named.has(subject)),
    [],
  )
  await behindItsBack('delete from wallet.transfer where id = any($1)', [odd])
})

t.test('how much was proven as lately as is wanted is measured', async (t) => {
  const { db } = bed.services.reconciler
  const measured = async (within: number) => {
    const read = await lastReconciliation({ db, clock: { now: () => new Date() } }, within).read()
    const [share] = read['backoffice.ledger.proven_share'] ?? []
    const [age] = read['backoffice.ledger.oldest_proof_age_seconds'] ?? []
    return { share: share?.value, age: age?.value }
  }
  const { runId } = await bed.team('alice').call(operations.reconciler.reconcileWallet, { input: {} })
  await eventually(
    async () =>
      (await bed.team('alice').call(operations.reconciler.reconcileWallet, { input: { runId } })).state === 'done',
  )
  t.match(await measured(dayMs), { share: 1, age: Number })
  await behindItsBack("update reconciler.proof set at = now() - interval '2 days' where piece < 32")
  const late = await measured(dayMs)
  t.equal(late.share, 0.75)
  t.ok((late.age ?? 0) > 2 * 86_400 - 60)
  // Somebody says that it is proven for ever.
  await behindItsBack("update reconciler.proof set at = 'infinity' where piece < 32")
  t.same(await measured(dayMs), { share: 0.75, age: undefined })
  t.match(await run({ piecesMax: 32 }), { provenSince: String })
})

/** Other than that there is no deposit for the credits. */
const others = ({ differences }: ReconciliationReport) => differences.filter(({ check }) => check !== 'deposits')

t.test('no checkpoint stands for what a proof has not proven', async (t) => {
  const playerId = newId('ply')
  const accountOf = '(select id from wallet.account where owner_id = $1)'
  const checkpoints = async () =>
    (
      await admin.query(`select entries::integer from reconciler.account_checkpoint where account_id = ${accountOf}`, [
        playerId,
      ])
    ).rows

  await t.test('a part proves links of other accounts than whose ends it looks at', async (t) => {
    await credit(playerId, 2)
    await run()
    t.same(await checkpoints(), [{ entries: 2 }])
    await behindItsBack(`delete from reconciler.account_checkpoint where account_id = ${accountOf}`, [playerId])
    // Else what was entered within minutes before the last run is followed, too.
    await behindItsBack(
      `update reconciler.checkpoint set at = now() + interval '1 hour', open = '{"listed":[],"unlisted":[]}'`,
    )
    await time.set(new Date(Date.now() + 2 * 3_600_000))
    await run({ piecesMax: all - 1 })
    await time.set(null)
    t.same(await checkpoints(), [])
    await run()
    t.same(await checkpoints(), [{ entries: 2 }])
    await behindItsBack(`delete from reconciler.account_checkpoint where account_id = ${accountOf}`, [playerId])
  })

  await t.test('an entry whose transaction has not ended may stand before one of an older transaction', async (t) => {
    const open = await admin.connect()
    await open.query('begin')
    const [{ xid }] = (await open.query('select pg_current_xact_id()::text as xid')).rows
    const [, last] = await credit(playerId, 2)
    // As if its transaction had got its number before, for an account that it locked first.
    await behindItsBack(
      `update wallet.entry set xid = $2::text::xid8
      where transfer_id = (select id from wallet.transfer where reference = $1)`,
      [last, String(BigInt(xid) - 1n)],
    )
    t.same(others(await runOf(bed, { workers: 3 })), [])
    t.same(await checkpoints(), [])
    await open.query('rollback')
    open.release()
    t.same(others(await run({ isFull: false })), [])
    t.same(await checkpoints(), [{ entries: 4 }])
  })
})

t.test('a value that cannot be read is alone in the report, and its neighbours are proven', async (t) => {
  const playerId = newId('ply')
  const [first, second] = await credit(playerId, 3)
  // The sum is more than the type holds.
  const most = '9223372036854775807'
  const make = (reference: string | undefined) =>
    behindItsBack(
      `update wallet.entry set amount = $2, balance = $2
      where seq is not null and transfer_id = (select id from wallet.transfer where reference = $1)`,
      [reference, most],
    )
  const { rows } = await admin.query(
    `select e.transfer_id, e.seq, e.amount, e.balance from wallet.entry e join wallet.account a on a.id = e.account_id
    where a.owner_id = $1 order by e.seq`,
    [playerId],
  )
  await make(first)
  await make(second)
  const followed: number[] = []
  const report = await run({ progress: ({ check, done }) => check === 'chains' && followed.push(done) })
  t.match(foundOf(report, playerId), ['balances', 'chains'])
  t.ok(followed.length > 0 && Math.max(...followed) < 10, 'only its own chain is followed')
  for (const { transfer_id, seq, amount, balance } of rows)
    await behindItsBack('update wallet.entry set amount = $3, balance = $4 where transfer_id = $1 and seq = $2', [
      transfer_id,
      seq,
      amount,
      balance,
    ])
  t.same(foundOf(await run(), playerId), [])
})

t.test('where a page cannot be read, each of its records is asked about', async (t) => {
  const view = 'payments.reconcilable_deposit'
  const [{ text }] = (await admin.query(`select pg_get_viewdef('${view}'::regclass) as text`)).rows
  const id = newId('dep')
  await behindItsBack(
    `insert into payments.deposit (id, brand_id, operator_id, environment, time_zone, player_id, external_reference, amount,
      currency, method, status, version, created_at)
    values ($1, $2, $3, $4, 'UTC', $5, $1, 500, 'BRL', 'pix', 'pending', 1, now())`,
    [id, scope.brandId, scope.operatorId, scope.environment, newId('ply')],
  )
  // As of a broken page: whoever asks for its amount gets an error.
  await admin.query(`create or replace view ${view} as
    select d.id, d.brand_id, d.environment, d.time_zone, d.player_id,
      d.amount, d.currency,
      case when d.id = '${id}' then (1 / (length(d.id) - length(d.id)))::text else d.status end as status, d.version, d.created_at
    from (${text.replace(/;$/, '')}) d`)
  const differences = others(await run())
  await admin.query(`create or replace view ${view} as ${text}`)
  await behindItsBack('delete from payments.deposit where id = $1', [id])
  t.ok(differences.length > 0)
  t.same(
    differences.filter(({ subject, actual }) => subject !== id || !actual.includes('cannot be read: division by zero')),
    [],
  )
})

t.test('a run after a restore from a dump says how many accounts it compared', async (t) => {
  await credit(newId('ply'), 1)
  await run()
  await behindItsBack('delete from reconciler.checkpoint')
  const report = await run({ isFull: false, restoredTo: new Date() })
  t.match(report, { kind: 'full', restored: { vouchedFor: 0 } })
  t.ok((report.restored?.accounts ?? 0) > 0)
})

t.test(
  'after a restore only what exported heads cannot vouch for is compared, and the proof finds the rest',
  async (t) => {
    const dir = mkdtempSync(join(tmpdir(), 'backoffice-heads-'))
    t.teardown(() => rmSync(dir, { recursive: true }))
    mkdirSync(join(dir, 'heads'))
    const store = folderStore(join(dir, 'heads'))
    const heads = { store, everyMs }
    const [old, late, cut, fresh] = [newId('ply'), newId('ply'), newId('ply'), newId('ply')]
    const [ofOld] = await credit(old, 3)
    for (const playerId of [late, cut]) await credit(playerId, 3)
    await exportHeads(bed.services.reconciler, store, new Date())
    await run()
    const [, ofLate] = await credit(late, 2)
    const [ofFresh] = await credit(fresh, 2)
    await ended(admin)
    const restoredTo = new Date()
    const restored = () => run({ isFull: false, restoredTo, heads })
    const right = await restored()
    t.match(right, { kind: 'restored', provenSince: null, restored: { exportedAt: String } })
    const { accounts = 0, vouchedFor = 0 } = right.restored ?? {}
    t.equal(accounts - vouchedFor, 1, 'the account that was opened since')
    for (const playerId of [old, late, cut, fresh]) t.same(foundOf(right, playerId), [])

    await t.test('a change of what was entered since is found', async (t) => {
      for (const [playerId, reference] of [
        [late, ofLate],
        [fresh, ofFresh],
      ] as const) {
        await changeReason(reference, 'another')
        t.same(foundOf(await restored(), playerId), ['chains'])
        await changeReason(reference, null)
        t.same(foundOf(await restored(), playerId), [])
      }
    })

    await t.test('so is a balance that is not that of the exported head', async (t) => {
      const change = (by: number) =>
        behindItsBack('update wallet.account set posted = posted + $2 where owner_id = $1', [old, by])
      await change(1)
      t.same(foundOf(await restored(), old), ['balances'])
      await change(-1)
      t.same(foundOf(await restored(), old), [])
    })

    await t.test('and an entry that was cut off', async (t) => {
      await behindItsBack(
        'delete from wallet.entry e using wallet.account a where a.id = e.account_id and a.owner_id = $1 and e.seq = 3',
        [cut],
      )
      t.same(foundOf(await restored(), cut), ['balances', 'checkpoints', 'exportedHeads'])
    })

    await t.test('a change of what the head vouches for is found by the proof alone', async (t) => {
      await changeReason(ofOld, 'another')
      t.same(foundOf(await restored(), old), [])
      const report = await run({ heads })
      t.match(report, { kind: 'full', provenSince: String })
      t.same(foundOf(report, old), ['chains'])
    })

    await t.test(
      'where no head was exported before, or none ever, every chain is followed from its first entry',
      async (t) => {
        const nowhere = { store: folderStore(join(dir, 'none')), everyMs }
        mkdirSync(join(dir, 'none'))
        const report = await run({ isFull: false, restoredTo, heads: nowhere })
        for (const { restored } of [report, await run({ isFull: false, restoredTo })])
          t.match(restored, { vouchedFor: 0, exportedAt: null })
        t.same(foundOf(report, old), ['chains'])
      },
    )
  },
)

/** A deposit that its operator confirmed long ago, in which nothing differs. */
async function addOldDeposit(playerId: string): Promise<void> {
  const at = new Date(Date.now() - 30 * dayMs)
  const depositId = newId('dep').replace(/^.{14}/, firstId('dep', at).slice(0, 14))
  const input = { playerId, depositId, amount: '1.00', effectiveAt: at.toISOString() }
  await bed.rpc.call(operations.wallet.creditAccount, { scope, input })
  await behindItsBack(
    `insert into payments.deposit (id, brand_id, operator_id, environment, time_zone, player_id, external_reference, amount,
       currency, method, status, version, created_at, confirmed_at)
     select $1, a.brand_id, $2, coalesce((select environment from wallet.brand where id = a.brand_id), 'production'), 'UTC', owner_id, $1,
       100, currency, 'pix', 'confirmed', 2, $4, $4 from wallet.account a where owner_id = $3`,
    [depositId, scope.operatorId, playerId, at],
  )
  await behindItsBack(
    `insert into payments.status_transition (record_id, version, from_status, to_status, at, by_kind, operation_id)
     values ($1, 1, null, 'pending', $2, 'operator', $1), ($1, 2, 'pending', 'confirmed', $2, 'operator', $1)`,
    [depositId, at],
  )
  await behindItsBack(
    'insert into payments.depositor (player_id, deposited, day, day_total) values ($1, 100, $2, 100)',
    [playerId, at.toISOString().slice(0, 10)],
  )
}

t.test(
  'of deposits of long ago the kept sum of a day, a transfer that is gone and a history that is gone are found',
  async (t) => {
    const [summed, credited, told, right] = [newId('ply'), newId('ply'), newId('ply'), newId('ply')]
    for (const playerId of [summed, credited, told, right]) await addOldDeposit(playerId)
    const of = async (...players: string[]) => {
      const { rows } = await admin.query<{ id: string; player: string; transfer: string }>(
        `select d.id, d.player_id as player, t.id as transfer from payments.deposit d
       left join wallet.transfer t on t.reference = d.id where d.player_id = any($1)`,
        [players],
      )
      return rows
    }
    const before = await of(summed, credited, told, right)
    const found = ({ differences }: ReconciliationReport) =>
      before.map(({ id, player, transfer }) =>
        [
          ...new Set(
            differences
              .filter(({ subject }) => [id, player, transfer].some((one) => subject.startsWith(one)))
              .map(({ check }) => check),
          ),
        ]
          .sort()
          .join(' '),
      )
    t.same(found(await run()), ['', '', '', ''], 'nothing differs')
    await behindItsBack('update payments.depositor set day_total = 99 where player_id = $1', [summed])
    await behindItsBack(
      'delete from wallet.transfer where reference in (select id from payments.deposit where player_id = $1)',
      [credited],
    )
    await behindItsBack(
      'delete from payments.status_transition where record_id in (select id from payments.deposit where player_id = $1)',
      [told],
    )
    const report = await run()
    const named = (player: string) => found(report)[before.findIndex((one) => one.player === player)]
    t.equal(named(summed), 'deposits')
    t.equal(named(credited), 'chains deposits transfers')
    t.equal(named(told), 'histories')
    t.equal(named(right), '')
    await behindItsBack('delete from payments.deposit where player_id = $1', [told])
  },
)

t.test('after a restore records are compared from the last run on, whenever all heads were exported', async (t) => {
  const store = folderStore(t.testdir())
  await exportHeads(bed.services.reconciler, store, new Date(Date.now() - 40 * dayMs))
  await addOldDeposit(newId('ply'))
  await run()
  const compared = async (options: Partial<ReconcileOptions>) =>
    (await run({ isFull: false, ...options })).checks.find(({ check }) => check === 'deposits')?.compared
  t.equal(await compared({ restoredTo: new Date(), heads: { store, everyMs } }), await compared({}))
})
