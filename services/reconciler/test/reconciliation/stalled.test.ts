import { connect as connectSocket, createServer, type Socket } from 'node:net'
import { newId } from '@backoffice/process'
import { eventually, held } from '@backoffice/test-kit'
import t from 'tap'
import { Reconciler } from '../../src/reconciliation/reconciler.ts'
import { listRuns } from '../../src/storage/reconciliations.ts'
import { ledgerBed } from './run.ts'

const bed = await ledgerBed(t)
const { db, clock, log } = bed.services.reconciler
const direct = bed.environment('reconciler').DATABASE_URL ?? ''

/** Nobody reads an entry until the lock is given back. */
const lockEntries = () => held(bed.sql('admin'), 'lock table wallet.entry in access exclusive mode')
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
