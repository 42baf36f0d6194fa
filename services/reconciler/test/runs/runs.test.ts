import { connect as connectSocket, createServer, type Socket } from 'node:net'
import { operations, type ReconciliationReport } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { DatabaseHistory } from '@backoffice/service-runtime'
import { eventually, holdOpen } from '@backoffice/test-kit'
import t from 'tap'
import { exportHeads } from '../../src/background/export-heads.ts'
import { writeHeads, writeRestore } from '../../src/heads/exports.ts'
import { folderStore } from '../../src/heads/store.ts'
import { listedMax } from '../../src/reconciliation/check.ts'
import type { ReconcileOptions } from '../../src/reconciliation/reconcile.ts'
import { Reconciler } from '../../src/reconciliation/reconciler.ts'
import { listRuns } from '../../src/storage/reconciliations.ts'
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

// Runs that wait, give way to one after a restore, or hang.

const { db, clock, log } = bed.services.reconciler
const direct = bed.environment('reconciler').DATABASE_URL ?? ''

/** Nobody reads an entry until the lock is given back. */
const lockEntries = () => holdOpen(bed.sql('admin'), 'lock table wallet.entry in access exclusive mode')
const listed = async (id: string) => (await listRuns(db, { before: null, limit: 10 })).find(({ runId }) => runId === id)

/** Resolves once the run is there. The answer to whoever begins it would wait a moment for its end. */
async function begun(id: string, beginning: Promise<unknown>): Promise<void> {
  await Promise.race([beginning, eventually(async () => (await listed(id)) !== undefined)])
}

t.test('PostgreSQL itself ends a statement that takes too long, and the run fails', async (t) => {
  const reconciler = new Reconciler({ db, clock, log, url: direct, statementMsMax: 300 })
  const entries = await lockEntries()
  const id = newId('opn')
  await reconciler.begin({ id, startedBy: 'alice', isFull: true })
  const run = await eventually(async () => {
    const found = await reconciler.find(id)
    return found.state === 'failed' && found
  })
  t.match(run.failure, /statement timeout/)
  await entries.rollback()
})

t.test('a run that waits for another one shows that it is there', async (t) => {
  let now = new Date(Date.now() - 120_000)
  const reconciler = new Reconciler({ db, clock: { now: () => now }, log, url: direct })
  const entries = await lockEntries()
  const [first, second] = [newId('opn'), newId('opn')]
  for (const id of [first, second]) await begun(id, reconciler.begin({ id, startedBy: 'alice', isFull: true }))
  now = new Date()
  await eventually(async () => (await listed(second))?.state === 'running')
  await entries.rollback()
  await eventually(async () => (await listed(second))?.state === 'done')
  t.equal((await reconciler.find(first)).state, 'done')
})

t.test('a run after a restore ends scheduled ones, under way or waiting, and no others', async (t) => {
  const reconciler = new Reconciler({ db, clock, log, url: direct })
  const entries = await lockEntries()
  const [underWay, waiting, restored, again] = ['one', 'two', newId('opn'), newId('opn')] as const
  const schedule = (id: string) => begun(id, reconciler.beginScheduled({ id, fullSince: new Date() }))
  const restoredTo = new Date(Date.now() - 1_000)
  const restore = (id: string) => begun(id, reconciler.begin({ id, startedBy: 'alice', isFull: false, restoredTo }))
  const ended = (id: string) =>
    eventually(async () => {
      const run = await reconciler.find(id)
      return run.state !== 'running' && run
    })
  const gaveWay = { state: 'failed', failure: /for a run after a restore/ }
  await schedule(underWay)
  await entries.isAwaited()
  await restore(restored)
  t.match(await ended(underWay), gaveWay)
  await schedule(waiting)
  await restore(again)
  await entries.rollback()
  t.match(await ended(restored), { state: 'done', failure: null, report: { restored: Object } })
  t.match(await ended(waiting), gaveWay)
  t.match(await ended(again), { state: 'done', failure: null, report: { restored: Object } })
})

t.test(
  'a run that makes no progress, because its connection is dead, ends, and the next one is not kept waiting',
  async (t) => {
    const { hostname, port } = new URL(direct)
    const sockets = new Set<Socket>()
    let silent = true
    let bytes = 0
    // A machine that is lost after it has taken the connection: nothing goes through, and nothing is closed.
    const proxy = createServer((client) => {
      const server = connectSocket(Number(port), hostname)
      for (const [socket, other] of [
        [client, server],
        [server, client],
      ] as const) {
        sockets.add(socket)
        socket.on('error', () => {})
        socket.on('data', (chunk) => {
          bytes += chunk.length
          if (!silent || bytes < 2_000) other.write(chunk)
        })
        if (!silent) socket.on('close', () => other.destroy())
      }
    })
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    t.teardown(() => {
      for (const socket of sockets) socket.destroy()
      proxy.close()
    })
    const through = new URL(direct)
    through.port = String((proxy.address() as { port: number }).port)
    const context = { db, clock, log, url: through.href, stallMsMax: 1_500 }
    const reconciler = new Reconciler(context)
    const [lost, next] = [newId('opn'), newId('opn')]
    await reconciler.begin({ id: lost, startedBy: 'alice', isFull: true })
    const run = await eventually(async () => {
      const found = await reconciler.find(lost)
      return found.state === 'failed' && found
    })
    t.match(run.failure, /no progress/)
    silent = false
    context.stallMsMax = 3_600_000
    await reconciler.begin({ id: next, startedBy: 'alice', isFull: true })
    await eventually(async () => (await reconciler.find(next)).state === 'done')
  },
)
