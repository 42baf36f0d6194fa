import { AsyncLocalStorage } from 'node:async_hooks'
import type { BatchFault } from '@backoffice/database'
import fc from 'fast-check'
import t from 'tap'
import { Gatherer } from '../src/index.ts'
import { failing, held, type Item, options, turn, turns } from './held-runs.ts'

t.test('what arrives while a batch runs forms the next ones, bounded, in order of arrival', async (t) => {
  const { batches, run, ids } = held()
  const gatherer = new Gatherer({ ...options, run, batchMax: 3 })
  const results = [1, 2].map((id) => gatherer.add({ id }))
  await turn()
  results.push(...[3, 4, 5, 6].map((id) => gatherer.add({ id })))
  await turns()
  t.same(ids(), [[1, 2]])
  for (let index = 0; index < 3; index++) {
    batches[index]?.end()
    await turns()
  }
  t.same(await Promise.all(results), [1, 2, 3, 4, 5, 6])
  t.same(ids(), [[1, 2], [3, 4, 5], [6]])
})

t.test('as many batches run at once as it was told', async (t) => {
  const { run, ids } = held()
  const gatherer = new Gatherer({ ...options, run, batchMax: 1, concurrency: 2 })
  for (const id of [1, 2, 3]) void gatherer.add({ id })
  await turns()
  t.same(ids(), [[1], [2]])
})

t.test('items that share a name are in no batch together, nor in two that run, and keep their order', async (t) => {
  const { batches, run, ids } = held()
  const gatherer = new Gatherer({ ...options, run, concurrency: 3 })
  void gatherer.add({ id: 1, names: ['a'] })
  void gatherer.add({ id: 2, names: ['a', 'b'] })
  void gatherer.add({ id: 3, names: ['b'] })
  void gatherer.add({ id: 4, names: ['c'] })
  await turns()
  t.same(ids(), [[1, 4]], '3 does not overtake 2, which waits for 1')
  batches[0]?.end()
  await turns()
  t.same(ids().slice(1), [[2]])
  batches[1]?.end()
  await turns()
  t.same(ids().slice(2), [[3]])
})

t.test('when more waits than one batch takes, the owners take turns', async (t) => {
  const { batches, run, ids } = held()
  const gatherer = new Gatherer({ ...options, run, batchMax: 4, ownerOf: ({ owner = '' }: Item) => owner })
  for (let id = 1; id <= 8; id++) void gatherer.add({ id, owner: 'busy' })
  void gatherer.add({ id: 21, owner: 'quiet' })
  void gatherer.add({ id: 31, owner: 'other' })
  await turns()
  batches[0]?.end()
  await turns()
  t.same(ids(), [
    [1, 21, 31, 2],
    [3, 4, 5, 6],
  ])
})

t.test('a batch is bounded in bytes, and what is larger goes by itself', async (t) => {
  const { batches, run, ids } = held()
  const gatherer = new Gatherer({ ...options, run, bytesMax: 100 })
  for (const [id, bytes] of [60, 60, 40, 500, 1].entries()) void gatherer.add({ id, bytes })
  for (let index = 0; index < 3; index++) {
    await turns()
    batches[index]?.end()
  }
  t.same(ids(), [[0, 2], [1, 4], [3]])
})

t.test('what expired while it waited is not run', async (t) => {
  const { batches, run, ids } = held()
  const gatherer = new Gatherer({ ...options, run })
  void gatherer.add({ id: 1 })
  await turns()
  const late: Item = { id: 2 }
  const dropped = gatherer.add(late)
  void gatherer.add({ id: 3 })
  late.expired = true
  batches[0]?.end()
  await t.rejects(dropped, { code: 'SERVICE_UNAVAILABLE', cause: /deadline/ })
  t.same(ids(), [[1], [3]])
})

t.test('a full queue refuses, and who waits alone counts', async (t) => {
  const { batches, run } = held()
  const gatherer = new Gatherer({ ...options, run, queueMax: 2, ...failing('alone') })
  for (const id of [1, 2]) gatherer.add({ id }).catch(() => {})
  await t.rejects(gatherer.add({ id: 3 }), { code: 'SERVICE_UNAVAILABLE', cause: /too many/ })
  await turns()
  for (const id of [3, 4]) gatherer.add({ id }).catch(() => {})
  await t.rejects(gatherer.add({ id: 5 }), { code: 'SERVICE_UNAVAILABLE' })
  batches[0]?.end(new Error('locked'))
})

t.test('one owner fills at most half of the queue: there is room for the others', async (t) => {
  const { run } = held()
  const gatherer = new Gatherer({ ...options, run, queueMax: 6, ownerOf: ({ owner = '' }: Item) => owner })
  void gatherer.add({ id: 0, owner: 'busy' })
  await turns()
  const burst = [1, 2, 3, 4].map((id) => gatherer.add({ id, owner: 'busy' }))
  await t.rejects(burst[3] as Promise<number>, { code: 'SERVICE_UNAVAILABLE', cause: /too many/ })
  for (const id of [5, 6, 7]) void gatherer.add({ id, owner: `other ${id}` })
  await t.rejects(gatherer.add({ id: 8, owner: 'quiet' }), { code: 'SERVICE_UNAVAILABLE' })
})

t.test('a batch runs in the context of its first item, whenever it runs', async (t) => {
  const { batches, run } = held()
  const context = new AsyncLocalStorage<string>()
  const seen: (string | undefined)[] = []
  const gatherer = new Gatherer({
    ...options,
    run: (items: readonly Item[], batch) => {
      seen.push(context.getStore())
      return run(items, batch)
    },
    batchMax: 2,
  })
  const added = ['a', 'b', 'c'].map((name, id) => context.run(name, () => gatherer.add({ id })))
  await turns()
  batches[0]?.end()
  await turns()
  batches[1]?.end()
  await Promise.all(added)
  t.strictSame(seen, ['a', 'c'])
})

t.test('whatever happens, each item is answered once, and namesakes run apart and in order', async (t) => {
  const name = fc.constantFrom('a', 'b', 'c', 'd')
  const arrival = fc.record({
    names: fc.uniqueArray(name, { maxLength: 2 }),
    owner: fc.constantFrom('x', 'y', 'z'),
    bytes: fc.integer({ min: 0, max: 120 }),
    /** Turns of the event loop before it arrives. */
    pause: fc.integer({ min: 0, max: 2 }),
    poison: fc.boolean(),
  })
  const settings = fc.record({
    arrivals: fc.array(arrival, { minLength: 1, maxLength: 40 }),
    batchMax: fc.integer({ min: 1, max: 5 }),
    concurrency: fc.integer({ min: 1, max: 3 }),
    /** How long each run takes, and how it ends. */
    runs: fc.array(
      fc.record({
        turns: fc.integer({ min: 0, max: 3 }),
        fault: fc.constantFrom<BatchFault | null>(null, null, 'again', 'alone', 'locked', 'everyone'),
      }),
      { minLength: 1, maxLength: 10 },
    ),
  })
  class Fault extends Error {
    readonly fault: BatchFault
    constructor(fault: BatchFault) {
      super(fault)
      this.fault = fault
    }
  }
  await fc.assert(
    fc.asyncProperty(settings, async ({ arrivals, batchMax, concurrency, runs }) => {
      const items = arrivals.map((arrival, id) => ({ ...arrival, id }))
      const busy = new Set<string>()
      const done: number[] = []
      let count = 0
      const gatherer = new Gatherer({
        batchMax,
        concurrency,
        queueMax: 100,
        bytesMax: 150,
        bytesOf: ({ bytes }: (typeof items)[number]) => bytes,
        ownerOf: ({ owner }) => owner,
        apart: ({ names }) => names,
        faultOf: (error) => (error as Fault).fault,
        async run(batch, { alone }) {
          const names = batch.flatMap((item) => item.names)
          if (new Set(names).size !== names.length || names.some((each) => busy.has(each)))
            throw new Error('namesakes met')
          if (batch.length > batchMax || (alone && batch.length !== 1)) throw new Error('too many')
          if (batch.length > 1 && batch.reduce((sum, { bytes }) => sum + bytes, 0) > 150) throw new Error('too large')
          for (const each of names) busy.add(each)
          const { turns, fault } = runs[count++ % runs.length] as (typeof runs)[number]
          for (let index = 0; index < turns; index++) await turn()
          for (const each of names) busy.delete(each)
          if (fault !== null) throw new Fault(fault)
          if (batch.some(({ poison }) => poison)) throw new Fault('alone')
          done.push(...batch.map(({ id }) => id))
          return batch.map(({ id }) => id)
        },
      })
      const answers: Promise<string>[] = []
      for (const item of items) {
        for (let index = 0; index < item.pause; index++) await turn()
        answers.push(
          gatherer.add(item).then(
            (result) => (result === item.id ? 'answered' : 'answered wrongly'),
            (error) => (error instanceof Fault ? 'failed' : String(error)),
          ),
        )
      }
      const outcomes = await Promise.all(answers)
      for (const [id, outcome] of outcomes.entries()) {
        if (outcome !== 'answered' && outcome !== 'failed') return false
        if (outcome === 'answered' && (items[id]?.poison || done.filter((other) => other === id).length !== 1))
          return false
        if (outcome === 'failed' && done.includes(id)) return false
      }
      for (const each of ['a', 'b', 'c', 'd'] as const) {
        const order = done.filter((id) => items[id]?.names.includes(each))
        if (order.some((id, index) => index > 0 && id < (order[index - 1] as number))) return false
      }
      return true
    }),
    { numRuns: 300 },
  )
  t.pass()
})
