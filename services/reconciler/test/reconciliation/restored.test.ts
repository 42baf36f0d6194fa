import { operations, type ReconciliationReport } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { DatabaseHistory } from '@backoffice/service-runtime'
import t from 'tap'
import { exportHeads } from '../../src/background/export-heads.ts'
import { writeHeads } from '../../src/heads/exports.ts'
import { writeRestore } from '../../src/heads/restores.ts'
import { folderStore } from '../../src/heads/store.ts'
import { listedMax } from '../../src/reconciliation/check.ts'
import type { ReconcileOptions } from '../../src/reconciliation/reconcile.ts'
import { behindItsBack, ended, ledgerBed, runOf } from './run.ts'

const bed = await ledgerBed(t)
const { reconciler: service } = bed.services
const scope = bed.scope()
const everyMs = 3_600_000

const run = async (options: Partial<ReconcileOptions>) => {
  await ended(bed.sql('admin'))
  return runOf(bed, { workers: 3, ...options })
}

async function credit(playerId: string): Promise<string> {
  const input = { playerId, depositId: newId('dep'), amount: '1.00', effectiveAt: new Date().toISOString() }
  await bed.rpc.call(operations.wallet.creditAccount, { scope, input })
  return input.depositId
}

const ofCheck = ({ checks }: ReconciliationReport, name: string) => checks.find(({ check }) => check === name)

t.test('heads that a restore undid are counted once, however many, and no more when it is recorded', async (t) => {
  const store = folderStore(t.testdir())
  await credit(newId('ply'))
  await exportHeads(service, store, new Date())
  await run({})
  const restoredTo = new Date()
  const at = new Date(restoredTo.getTime() + 1)
  const undone = Array.from({ length: listedMax + 1 }, (_, index) => ({
    ...{ accountId: String(1_000_000 + index), brandId: 'brd_1', playerId: newId('ply'), seq: '1', hash: '00' },
  }))
  await writeHeads(
    store,
    { kind: 'delta', at, end: async () => ({ readUntil: at, history: '7000000000000000000-00000001' }) },
    (async function* () {
      yield undone
    })(),
  )
  const differences = async () => {
    const report = await run({ isFull: false, restoredTo, heads: { store, everyMs } })
    return ofCheck(report, 'exportedHeads')?.differences
  }
  for (let time = 0; time < 2; time++) t.equal(await differences(), undone.length)
  const history = await new DatabaseHistory(service.db.reader).name()
  const by = { recordedBy: 'bob', reason: 'the disks were lost', exportsSilenced: 1 }
  await writeRestore(store, { ...by, restoredTo, recordedAt: new Date(at.getTime() + 1), history })
  t.equal(await differences(), 0)
})

const dayAgo = () => new Date(Date.now() - 24 * 3_600_000)

t.test('a head vouches for nothing that no run before the restore has looked at', async (t) => {
  const store = folderStore(t.testdir())
  const heads = { store, everyMs }
  const [playerId, older] = [newId('ply'), newId('ply')]
  for (let time = 0; time < 2; time++) await credit(older)
  const before = dayAgo()
  await exportHeads(service, store, before)
  await run({})
  const changed = await credit(playerId)
  await credit(playerId)
  const changeReason = (reason: string | null) =>
    behindItsBack(bed.sql('admin'), 'update wallet.transfer set reason = $2 where reference = $1', [changed, reason])
  await changeReason('another')
  await exportHeads(service, store, new Date())
  const report = await run({ isFull: false, restoredTo: new Date(), heads })
  t.match(report.restored, { exportedAt: before.toISOString() })
  t.ok((report.restored?.vouchedFor ?? 0) > 0)
  const found = report.differences.filter(({ subject, check }) => check === 'chains' && subject.startsWith(playerId))
  t.equal(found.length, 1)
  await changeReason(null)
})

t.test('heads that were still being read at the moment of the restore leave it to the export before', async (t) => {
  const store = folderStore(t.testdir())
  const before = dayAgo()
  await exportHeads(service, store, before)
  const at = new Date()
  await exportHeads(service, store, at)
  await run({})
  const report = await run({ isFull: false, restoredTo: at, heads: { store, everyMs } })
  t.match(report.restored, { exportedAt: before.toISOString() })
})

t.test('several connections look at all accounts and exported heads, each once', async (t) => {
  const store = folderStore(t.testdir())
  for (let count = 0; count < 7; count++) await credit(newId('ply'))
  await exportHeads(service, store, new Date())
  await run({})
  const gone = { brandId: 'brd_1', playerId: newId('ply'), seq: '1', hash: '00' }
  const at = new Date()
  const { rows } = await bed.sql('admin').query(
    `select id::text as "accountId", brand_id as "brandId", owner_id as "playerId", seq::text, encode(head, 'hex') as hash
    from wallet.account where owner_id is not null order by id`,
  )
  const history = await new DatabaseHistory(service.db.reader).name()
  await writeHeads(
    store,
    { kind: 'snapshot', at, end: async () => ({ readUntil: at, history }) },
    (async function* () {
      yield [...rows, { accountId: String(10n ** 17n), ...gone }]
    })(),
  )
  await run({})
  const pages = { keys: 2, entries: 3 }
  const report = await run({ isFull: false, restoredTo: new Date(), heads: { store, everyMs }, pages })
  t.match(report.restored, { exportedAt: at.toISOString(), accounts: rows.length, vouchedFor: rows.length })
  t.equal(ofCheck(report, 'balances')?.compared, rows.length)
  const named = report.differences.filter(({ check }) => check === 'exportedHeads').map(({ subject }) => subject)
  t.same(named, [`${gone.playerId} entry 1`])
})
