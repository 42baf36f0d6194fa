import { AsyncLocalStorage } from 'node:async_hooks'
import type { BatchFault } from '@backoffice/database'
import { systemTimers } from '@backoffice/process'
import fc from 'fast-check'
import t from 'tap'
import type { BatcherOptions, Manner } from '../src/batcher.ts'
import { Batcher } from '../src/index.ts'

interface Item {
  readonly id: number
  readonly names?: readonly string[]
  readonly owner?: string
  readonly bytes?: number
  expired?: boolean
}

const turn = () => new Promise((resolve) => setImmediate(resolve))
/** Long enough for whatever goes on by itself. */
const turns = async () => {
  for (let count = 0; count < 5; count++) await turn()
}

const options = {
  batchMax: 10,
  queueMax: 100,
  conflictKeys: ({ names = [] }: Item) => names,
  isExpired: ({ expired = false }: Item) => expired,
  bytesOf: ({ bytes = 0 }: Item) => bytes,
}

/** A batcher whose runs the test ends by hand. Each that ends with an error has this fault. */
function held(more: Partial<BatcherOptions<Item, number>> = {}, fault: BatchFault = 'everyone') {
  const batches: { ids: number[]; alone: boolean; lockTimeoutMs: number; end: (outcome?: Error) => void }[] = []
  const run = (items: readonly Item[], manner: Manner) =>
    new Promise<number[]>((resolve, reject) => {
      const ids = items.map(({ id }) => id)
      batches.push({ ids, ...manner, end: (error) => (error === undefined ? resolve(ids) : reject(error)) })
    })
  const batcher = new Batcher({ ...options, run, faultOf: () => fault, ...more })
  return {
    batches,
    run,
    ids: () => batches.map(({ ids }) => ids),
    add: (...items: readonly (number | Item)[]) =>
      items.map((item) => batcher.add(typeof item === 'number' ? { id: item } : item)),
    /** Ends these runs, one after another. */
    async end(indices: readonly number[], fault?: string) {
      for (const index of indices) {
        batches[index]?.end(fault === undefined ? undefined : new Error(fault))
        await turns()
      }
    },
  }
}

t.test('what arrives while a batch runs forms the next ones, bounded, in order of arrival', async (t) => {
  const { add, end, ids } = held({ batchMax: 3 })
  const results = add(1, 2)
  await turn()
  results.push(...add(3, 4, 5, 6))
  await turns()
  t.same(ids(), [[1, 2]])
  await end([0, 1, 2])
  t.same(await Promise.all(results), [1, 2, 3, 4, 5, 6])
  t.same(ids(), [[1, 2], [3, 4, 5], [6]])
})

t.test('a batch begins beside another when enough wait for it, or have waited long enough', async (t) => {
  const due: (() => void)[] = []
  const timers = {
    ...systemTimers,
    setTimeout: (late: () => void) => due.push(late) as never,
    clearTimeout: () => due.pop(),
  }
  const { add, end, ids } = held({ concurrency: 2, besideFrom: 3, timers })
  const arrive = async (id: number) => {
    add(id)
    await turns()
  }
  await arrive(1)
  t.same(ids(), [[1]], 'nobody waits while nothing runs')
  await arrive(2)
  await arrive(3)
  t.same(ids(), [[1]])
  await arrive(4)
  t.same(ids(), [[1], [2, 3, 4]])
  t.equal(due.length, 0, 'nobody is waited for any more')
  await end([1])
  await arrive(5)
  t.same(ids(), [[1], [2, 3, 4]])
  due.pop()?.()
  t.same(ids(), [[1], [2, 3, 4], [5]], 'the first one takes long')
  await arrive(6)
  await end([0, 2])
  t.same(ids(), [[1], [2, 3, 4], [5], [6]], 'nothing runs')
})

t.test('when more waits than one batch takes, the owners take turns', async (t) => {
  const { add, end, ids } = held({ batchMax: 4, ownerOf: ({ owner = '' }) => owner })
  for (let id = 1; id <= 8; id++) add({ id, owner: 'busy' })
  add({ id: 21, owner: 'quiet' }, { id: 31, owner: 'other' })
  await turns()
  await end([0])
  t.same(ids(), [
    [1, 21, 31, 2],
    [3, 4, 5, 6],
  ])
})

t.test('what expired while it waited is not run', async (t) => {
  const { add, end, ids } = held()
  add(1)
  await turns()
  const late: Item = { id: 2 }
  const [dropped] = add(late, 3)
  late.expired = true
  void end([0])
  await t.rejects(dropped as Promise<number>, { code: 'SERVICE_UNAVAILABLE', cause: /deadline/ })
  t.same(ids(), [[1], [3]])
})

const refused = { code: 'SERVICE_UNAVAILABLE', cause: /too many/ }

t.test('a full queue refuses, and who waits alone counts', async (t) => {
  const { add, batches } = held({ queueMax: 2 }, 'alone')
  const waiting = add(1, 2)
  await t.rejects(add(3)[0] as Promise<number>, refused)
  await turns()
  waiting.push(...add(3, 4))
  await t.rejects(add(5)[0] as Promise<number>, refused)
  for (const one of waiting) one.catch(() => {})
  batches[0]?.end(new Error('locked'))
})

t.test('one owner fills at most half of the queue: there is room for the others', async (t) => {
  const { add } = held({ queueMax: 6, ownerOf: ({ owner = '' }) => owner })
  const ofBusy = (id: number) => ({ id, owner: 'busy' })
  add(ofBusy(0))
  await turns()
  const burst = add(...[1, 2, 3, 4].map(ofBusy))
  await t.rejects(burst[3] as Promise<number>, refused)
  add(...[5, 6, 7].map((id) => ({ id, owner: `other ${id}` })))
  await t.rejects(add({ id: 8, owner: 'quiet' })[0] as Promise<number>, refused)
})

t.test('a batch runs in the context of its first item, whenever it runs', async (t) => {
  const context = new AsyncLocalStorage<string>()
  const seen: (string | undefined)[] = []
  const observer = held()
  const run: typeof observer.run = (items, manner) => {
    seen.push(context.getStore())
    return observer.run(items, manner)
  }
  const batcher = new Batcher({ ...options, run, batchMax: 2 })
  const added = ['a', 'b', 'c'].map((name, id) => context.run(name, () => batcher.add({ id })))
  await turns()
  await observer.end([0, 1])
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
  const { add, end, ids } = held({}, 'again')
  const [first, second] = add(1, 2)
  await turns()
  await end([0, 1, 2], 'twice')
  t.same(ids(), [[1, 2], [1, 2], [1, 2], [1], [2]])
  const refused = t.rejects(second as Promise<number>, /for ever/)
  await end([3])
  await end([4, 5, 6], 'for ever')
  t.equal(await first, 1)
  await refused
  t.same(ids().slice(4), [[2], [2], [2]])
})

t.test('one that waits alone keeps nobody waiting but its namesakes', async (t) => {
  const { add, end, ids } = held({}, 'alone')
  const [locked] = add({ id: 1, names: ['locked'] })
  await turns()
  await end([0], 'lock timeout')
  t.same(ids(), [[1], [1]], 'a batch of one waits on by itself')
  const [, neighbour] = add({ id: 2, names: ['locked'] }, 3)
  await turns()
  t.same(ids().slice(2), [[3]])
  await end([2])
  t.equal(await neighbour, 3)
  await end([1])
  t.equal(await locked, 1)
  t.same(ids().slice(3), [[2]])
})

const named = (id: number): Item => ({ id, names: [`${id}`] })

t.test('what expired while it waited to run alone is not run, and frees its names', async (t) => {
  const { add, batches, end, ids } = held({}, 'alone')
  const items = [1, 2, 3, 4, 5].map(named)
  const results = add(...items)
  await turns()
  await end([0], 'lock timeout')
  t.same(ids().slice(1), [[1], [2], [3], [4]], 'so many at once')
  ;(items[4] as Item).expired = true
  const [namesake] = add({ id: 55, names: ['5'] })
  batches[1]?.end()
  await t.rejects(results[4] as Promise<number>, { code: 'SERVICE_UNAVAILABLE' })
  await turns()
  await end([5])
  t.equal(await namesake, 55)
})

t.test("'locked' runs each item by itself, and who is locked out is tried again and again", async (t) => {
  const { add, batches, end, ids } = held({}, 'locked')
  const results = add(named(1), named(2))
  await turns()
  await end([0, 1], 'lock timeout')
  t.same(ids(), [[1, 2], [1], [2], [1]], 'the other does not wait behind the one that is locked out')
  const [batch, ...apart] = batches.map(({ lockTimeoutMs }) => lockTimeoutMs) as [number, ...number[]]
  t.ok(
    apart.every((lockTimeoutMs) => lockTimeoutMs < batch),
    'it keeps a connection for a moment only',
  )
  await end([2])
  t.equal(await results[1], 2)
  await end([3, 4, 5], 'lock timeout')
  await end([6])
  t.equal(await results[0], 1)
})

t.test('those that are locked out take turns, and each is given up after a while', async (t) => {
  const { add, batches, end, ids } = held({}, 'locked')
  const ended: Promise<unknown>[] = add(...[1, 2, 3].map(named)).map((result) => t.rejects(result, /lock timeout/))
  await turns()
  for (let index = 0; index < batches.length; index++) await end([index], 'lock timeout')
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
  const keys = { conflictKeys: ({ id }: Item) => [`${id}`], faultKeys: ({ names = [] }: Item) => names }
  const { add, batches, end, ids } = held(keys, 'alone')
  const poisoned = (id: number) => ({ id, names: ['poison', 'other'] })
  const poison = t.rejects(add(poisoned(1))[0] as Promise<number>, /alone/)
  await turns()
  await end([0], 'in a batch')
  await end([1], 'alone')
  await poison
  add(poisoned(2), 3, poisoned(4))
  await turns()
  t.match(batches.slice(2), [
    { ids: [2], alone: true },
    { ids: [4], alone: true },
    { ids: [3], alone: false },
  ])
  await end([2, 3, 4])
  add(poisoned(5), poisoned(6))
  await turns()
  t.same(ids().at(-1), [5, 6])
})

t.test('only so much is remembered of what failed', async (t) => {
  const met: boolean[] = []
  const run = async (items: readonly Item[], { alone }: Manner) => {
    if (items.some(({ id }) => id === 0)) met.push(alone)
    throw new Error('poison')
  }
  const { add } = held({ run }, 'alone')
  const fail = (id: number) => add(named(id))[0]?.catch(() => {})
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
  const results = await Promise.allSettled(held({ run }, 'alone').add(1, 2))
  t.match(results, [{ status: 'rejected' }, { status: 'rejected' }])
  t.equal(runs, 1)
})
