import { AsyncLocalStorage } from 'node:async_hooks'
import type { BatchFault } from '@backoffice/database'
import { systemTimers } from '@backoffice/process'
import fc from 'fast-check'
import t from 'tap'
import type { Manner } from '../src/batcher.ts'
import { Batcher } from '../src/index.ts'

interface Item {
  readonly id: number
  readonly names?: readonly string[]
  readonly owner?: string
  readonly bytes?: number
  expired?: boolean
}

/** Runs that the test ends by hand. */
function held() {
  const batches: { ids: number[]; alone: boolean; lockTimeoutMs: number; end: (outcome?: Error) => void }[] = []
  const run = (items: readonly Item[], manner: Manner) =>
    new Promise<number[]>((resolve, reject) => {
      const ids = items.map(({ id }) => id)
      batches.push({ ids, ...manner, end: (error) => (error === undefined ? resolve(ids) : reject(error)) })
    })
  return { batches, run, ids: () => batches.map(({ ids }) => ids) }
}

const options = {
  batchMax: 10,
  queueMax: 100,
  conflictKeys: ({ names = [] }: Item) => names,
  isExpired: ({ expired = false }: Item) => expired,
  bytesOf: ({ bytes = 0 }: Item) => bytes,
}
const failing = (fault: BatchFault) => ({ faultOf: () => fault })

const turn = () => new Promise((resolve) => setImmediate(resolve))
/** Long enough for whatever goes on by itself. */
const turns = async () => {
  for (let count = 0; count < 5; count++) await turn()
}

t.test('what arrives while a batch runs forms the next ones, bounded, in order of arrival', async (t) => {
  const { batches, run, ids } = held()
  const batcher = new Batcher({ ...options, run, batchMax: 3 })
  const results = [1, 2].map((id) => batcher.add({ id }))
  await turn()
  results.push(...[3, 4, 5, 6].map((id) => batcher.add({ id })))
  await turns()
  t.same(ids(), [[1, 2]])
  for (let index = 0; index < 3; index++) {
    batches[index]?.end()
    await turns()
  }
  t.same(await Promise.all(results), [1, 2, 3, 4, 5, 6])
  t.same(ids(), [[1, 2], [3, 4, 5], [6]])
})

t.test('a batch begins beside another when enough wait for it, or have waited long enough', async (t) => {
  const { batches, run, ids } = held()
  const due: (() => void)[] = []
  const timers = {
    ...systemTimers,
    setTimeout: (late: () => void) => due.push(late) as never,
    clearTimeout: () => due.pop(),
  }
  const batcher = new Batcher({ ...options, run, concurrency: 2, besideFrom: 3, timers })
  const add = async (...added: number[]) => {
    for (const id of added) void batcher.add({ id })
    await turns()
  }
  await add(1)
  t.same(ids(), [[1]], 'nobody waits while nothing runs')
  await add(2)
  await add(3)
  t.same(ids(), [[1]])
  await add(4)
  t.same(ids(), [[1], [2, 3, 4]])
  t.equal(due.length, 0, 'nobody is waited for any more')
  batches[1]?.end()
  await add(5)
  t.same(ids(), [[1], [2, 3, 4]])
  due.pop()?.()
  t.same(ids(), [[1], [2, 3, 4], [5]], 'the first one takes long')
  await add(6)
  batches[0]?.end()
  batches[2]?.end()
  await turns()
  t.same(ids(), [[1], [2, 3, 4], [5], [6]], 'nothing runs')
})

t.test('when more waits than one batch takes, the owners take turns', async (t) => {
  const { batches, run, ids } = held()
  const batcher = new Batcher({ ...options, run, batchMax: 4, ownerOf: ({ owner = '' }: Item) => owner })
  for (let id = 1; id <= 8; id++) void batcher.add({ id, owner: 'busy' })
  void batcher.add({ id: 21, owner: 'quiet' })
  void batcher.add({ id: 31, owner: 'other' })
  await turns()
  batches[0]?.end()
  await turns()
  t.same(ids(), [
    [1, 21, 31, 2],
    [3, 4, 5, 6],
  ])
})

t.test('what expired while it waited is not run', async (t) => {
  const { batches, run, ids } = held()
  const batcher = new Batcher({ ...options, run })
  void batcher.add({ id: 1 })
  await turns()
  const late: Item = { id: 2 }
  const dropped = batcher.add(late)
  void batcher.add({ id: 3 })
  late.expired = true
  batches[0]?.end()
  await t.rejects(dropped, { code: 'SERVICE_UNAVAILABLE', cause: /deadline/ })
  t.same(ids(), [[1], [3]])
})

t.test('a full queue refuses, and who waits alone counts', async (t) => {
  const { batches, run } = held()
  const batcher = new Batcher({ ...options, run, queueMax: 2, ...failing('alone') })
  for (const id of [1, 2]) batcher.add({ id }).catch(() => {})
  await t.rejects(batcher.add({ id: 3 }), { code: 'SERVICE_UNAVAILABLE', cause: /too many/ })
  await turns()
  for (const id of [3, 4]) batcher.add({ id }).catch(() => {})
  await t.rejects(batcher.add({ id: 5 }), { code: 'SERVICE_UNAVAILABLE' })
  batches[0]?.end(new Error('locked'))
})

t.test('one owner fills at most half of the queue: there is room for the others', async (t) => {
  const { run } = held()
  const batcher = new Batcher({ ...options, run, queueMax: 6, ownerOf: ({ owner = '' }: Item) => owner })
  void batcher.add({ id: 0, owner: 'busy' })
  await turns()
  const burst = [1, 2, 3, 4].map((id) => batcher.add({ id, owner: 'busy' }))
  await t.rejects(burst[3] as Promise<number>, { code: 'SERVICE_UNAVAILABLE', cause: /too many/ })
  for (const id of [5, 6, 7]) void batcher.add({ id, owner: `other ${id}` })
  await t.rejects(batcher.add({ id: 8, owner: 'quiet' }), { code: 'SERVICE_UNAVAILABLE' })
})

t.test('a batch runs in the context of its first item, whenever it runs', async (t) => {
  const { batches, run } = held()
  const context = new AsyncLocalStorage<string>()
  const seen: (string | undefined)[] = []
  const batcher = new Batcher({
    ...options,
    run: (items: readonly Item[], batch) => {
      seen.push(context.getStore())
      return run(items, batch)
    },
    batchMax: 2,
  })
  const added = ['a', 'b', 'c'].map((name, id) => context.run(name, () => batcher.add({ id })))
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
      let running = 0
      const batcher = new Batcher({
        batchMax,
        concurrency,
        queueMax: 100,
        bytesMax: 150,
        bytesOf: ({ bytes }: (typeof items)[number]) => bytes,
        ownerOf: ({ owner }) => owner,
        conflictKeys: ({ names }) => names,
        faultOf: (error) => (error as Fault).fault,
        async run(batch, { alone }) {
          const names = batch.flatMap((item) => item.names)
          if (new Set(names).size !== names.length || names.some((each) => busy.has(each)))
            throw new Error('namesakes met')
          if (batch.length > batchMax || (alone && batch.length !== 1)) throw new Error('too many')
          if (!alone && running >= concurrency) throw new Error('too many at once')
          if (batch.length > 1 && batch.reduce((sum, { bytes }) => sum + bytes, 0) > 150) throw new Error('too large')
          for (const each of names) busy.add(each)
          const { turns, fault } = runs[count++ % runs.length] as (typeof runs)[number]
          if (!alone) running++
          for (let index = 0; index < turns; index++) await turn()
          if (!alone) running--
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
          batcher.add(item).then(
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

// What becomes of a batch that fails, and of the items in it that are not at fault.

t.test("'again' runs the same batch at most twice more, and then each item alone", async (t) => {
  const { batches, run, ids } = held()
  const batcher = new Batcher({ ...options, run, ...failing('again') })
  const results = [1, 2].map((id) => batcher.add({ id }))
  for (let index = 0; index < 3; index++) {
    await turns()
    batches[index]?.end(new Error('twice'))
  }
  await turns()
  t.same(ids(), [[1, 2], [1, 2], [1, 2], [1], [2]])
  batches[3]?.end()
  const refused = t.rejects(results[1] as Promise<number>, /for ever/)
  for (let index = 4; index < 7; index++) {
    batches[index]?.end(new Error('for ever'))
    await turns()
  }
  t.equal(await results[0], 1)
  await refused
  t.same(ids().slice(4), [[2], [2], [2]])
})

t.test('one that waits alone keeps nobody waiting but its namesakes', async (t) => {
  const { batches, run, ids } = held()
  const batcher = new Batcher({ ...options, run, ...failing('alone') })
  const locked = batcher.add({ id: 1, names: ['locked'] })
  await turns()
  batches[0]?.end(new Error('lock timeout'))
  await turns()
  t.same(ids(), [[1], [1]], 'a batch of one waits on by itself')
  void batcher.add({ id: 2, names: ['locked'] })
  const neighbour = batcher.add({ id: 3 })
  await turns()
  t.same(ids().slice(2), [[3]])
  batches[2]?.end()
  t.equal(await neighbour, 3)
  batches[1]?.end()
  t.equal(await locked, 1)
  await turns()
  t.same(ids().slice(3), [[2]])
})

t.test('what expired while it waited to run alone is not run, and frees its names', async (t) => {
  const { batches, run, ids } = held()
  const batcher = new Batcher({ ...options, run, ...failing('alone') })
  const items: Item[] = [1, 2, 3, 4, 5].map((id) => ({ id, names: [`${id}`] }))
  const results = items.map((item) => batcher.add(item))
  await turns()
  batches[0]?.end(new Error('lock timeout'))
  await turns()
  t.same(ids().slice(1), [[1], [2], [3], [4]], 'so many at once')
  ;(items[4] as Item).expired = true
  const namesake = batcher.add({ id: 55, names: ['5'] })
  batches[1]?.end()
  await t.rejects(results[4] as Promise<number>, { code: 'SERVICE_UNAVAILABLE' })
  await turns()
  batches[5]?.end()
  t.equal(await namesake, 55)
})

t.test("'locked' runs each item by itself, and who is locked out is tried again and again", async (t) => {
  const { batches, run } = held()
  const batcher = new Batcher({ ...options, run, ...failing('locked') })
  const results = [1, 2].map((id) => batcher.add({ id, names: [`${id}`] }))
  await turns()
  for (const index of [0, 1]) {
    batches[index]?.end(new Error('lock timeout'))
    await turns()
  }
  t.match(
    batches,
    [{ ids: [1, 2] }, { ids: [1] }, { ids: [2] }, { ids: [1] }],
    'the other does not wait behind the one that is locked out',
  )
  const [batch, ...apart] = batches.map(({ lockTimeoutMs }) => lockTimeoutMs) as [number, ...number[]]
  t.ok(
    apart.every((lockTimeoutMs) => lockTimeoutMs < batch),
    'it keeps a connection for a moment only',
  )
  batches[2]?.end()
  t.equal(await results[1], 2)
  for (let index = 3; index < 6; index++) {
    batches[index]?.end(new Error('lock timeout'))
    await turns()
  }
  batches[6]?.end()
  t.equal(await results[0], 1)
})

t.test('those that are locked out take turns, and each is given up after a while', async (t) => {
  const { batches, run, ids } = held()
  const batcher = new Batcher({ ...options, run, ...failing('locked') })
  const results = [1, 2, 3].map((id) => batcher.add({ id, names: [`${id}`] }))
  const ended: Promise<unknown>[] = results.map((result) => t.rejects(result, /lock timeout/))
  await turns()
  for (let index = 0; index < batches.length; index++) {
    batches[index]?.end(new Error('lock timeout'))
    await turns()
  }
  await Promise.all(ended)
  const turnsTaken = ids()
    .slice(4, -3)
    .map(([id]) => id)
  t.ok(
    turnsTaken.every((id, index) => index < 3 || id === turnsTaken[index - 3]),
    turnsTaken.join(' '),
  )
})

t.test('who shares a name with what failed alone goes alone at once, until one of them succeeds', async (t) => {
  const { batches, run, ids } = held()
  const batcher = new Batcher({
    ...options,
    conflictKeys: ({ id }: Item) => [`${id}`],
    faultKeys: ({ names = [] }: Item) => names,
    run,
    ...failing('alone'),
  })
  const poison = batcher.add({ id: 1, names: ['poison'] })
  await turns()
  batches[0]?.end(new Error('in a batch'))
  await turns()
  batches[1]?.end(new Error('alone'))
  await t.rejects(poison, /alone/)
  for (const id of [2, 3, 4]) void batcher.add({ id, names: id === 3 ? [] : ['poison', 'other'] })
  await turns()
  t.match(batches.slice(2), [
    { ids: [2], alone: true },
    { ids: [4], alone: true },
    { ids: [3], alone: false },
  ])
  for (const index of [2, 3, 4]) batches[index]?.end()
  await turns()
  for (const id of [5, 6]) void batcher.add({ id, names: ['poison'] })
  await turns()
  t.same(ids().at(-1), [5, 6])
})

t.test('only so much is remembered of what failed', async (t) => {
  const met: boolean[] = []
  const batcher = new Batcher({
    ...options,
    ...failing('alone'),
    async run(items: readonly Item[], { alone }) {
      if (items.some(({ id }) => id === 0)) met.push(alone)
      throw new Error('poison')
    },
  })
  const fail = (id: number) => batcher.add({ id, names: [`${id}`] }).catch(() => {})
  await fail(0)
  await fail(0)
  t.same(met, [false, true, true])
  for (let id = 1; id <= 1_000; id++) await fail(id)
  await fail(0)
  t.same(met.slice(3), [false, true])
})

t.test('a wrong number of results is a bug, told to all and not tried again', async (t) => {
  let runs = 0
  const run = async () => {
    runs++
    return [1]
  }
  const batcher = new Batcher({ ...options, run, ...failing('alone') })
  const results = await Promise.allSettled([batcher.add({ id: 1 }), batcher.add({ id: 2 })])
  t.same(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  t.equal(runs, 1)
})
