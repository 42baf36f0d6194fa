import t from 'tap'
import { closedLoop } from '../src/load/load.ts'

t.test('a fault of the bench ends the loop', async (t) => {
  const broken = async () => {
    throw new Error('broken')
  }
  await t.rejects(closedLoop({ clients: 2, warmUpMs: 0, windowMs: 300 }, broken), { message: 'broken' })
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
  t.ok(load.operationsMs.length > 0)
  t.ok(Math.abs(load.operationsMs.length - counted) <= 2, 'but for those that end with the window itself')
  t.ok((load.failures.get('early') ?? 0) > 0)
})
