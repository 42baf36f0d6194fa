import t from 'tap'
import { closedLoop } from '../../src/load/closed-loop.ts'
import { ArrivalSchedule, openLoop } from '../../src/load/open-loop.ts'

t.test('arrivals are meant to begin at a fixed distance, whenever somebody looks', async (t) => {
  const schedule = new ArrivalSchedule({ startMs: 1_000, ratePerSecond: 250 })
  t.equal(schedule.meantAtMs(0), 1_000)
  t.equal(schedule.meantAtMs(250), 2_000)
  t.equal(schedule.dueBy(999), 0)
  t.equal(schedule.dueBy(1_000), 1)
  t.equal(schedule.dueBy(1_003.9), 1)
  t.equal(schedule.dueBy(1_004), 2)
  t.equal(schedule.dueBy(2_000), 251)
})

t.test('what arrives while all clients are busy waits, and its wait counts', async (t) => {
  const stall = Promise.withResolvers<void>()
  setTimeout(() => stall.resolve(), 60)
  const settings = { ratePerSecond: 200, windowMs: 40, clientsMax: 1, patienceMs: 10_000 }
  const load = await openLoop(settings, () => stall.promise)
  t.equal(load.failures.size, 0)
  t.equal(load.operations, 8, 'every arrival was served, and each once')
  t.equal(load.operationsMs.length, 8)
  const [first = 0, last = 0] = [load.operationsMs[0], load.operationsMs.at(-1)]
  t.ok(first > last, 'all ended with the stall, so the first to arrive had waited longest')
})

t.test('an operation that does not end in time has failed, and so has each that waited for it', async (t) => {
  const settings = { ratePerSecond: 100, windowMs: 30, clientsMax: 1, patienceMs: 20 }
  let begun = 0
  const load = await openLoop(settings, () => {
    begun += 1
    return new Promise<never>(() => {})
  })
  t.equal(begun, 1)
  t.equal(load.operations, 0)
  t.equal(load.failures.get('no reply in time'), 3)
})

t.test('a fault of the bench ends either loop', async (t) => {
  const broken = async () => {
    throw new Error('broken')
  }
  const open = { ratePerSecond: 100, windowMs: 10_000, clientsMax: 2, patienceMs: 0 }
  await t.rejects(openLoop(open, broken), { message: 'broken' })
  await t.rejects(closedLoop({ clients: 2, warmUpMs: 0, windowMs: 10_000 }, broken), { message: 'broken' })
})

t.test('a closed loop counts what ends inside its window, and what fails whenever it does', async (t) => {
  let opened = false
  let closed = false
  const settings = {
    clients: 2,
    warmUpMs: 20,
    windowMs: 20,
    opened: () => {
      opened = true
    },
    closed: () => {
      closed = true
    },
  }
  let counted = 0
  const load = await closedLoop(settings, async (_client, load) => {
    await new Promise((resolve) => setTimeout(resolve, 1))
    if (opened && !closed) counted += 1
    if (!opened) load.failed('early')
  })
  t.ok(load.operations > 0)
  t.ok(Math.abs(load.operations - counted) <= 2, 'but for those that end with the window itself')
  t.ok((load.failures.get('early') ?? 0) > 0)
})
