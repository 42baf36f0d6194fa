import t from 'tap'
import { Gatherer } from '../src/index.ts'
import { failing, held, type Item, options, turns } from './held-runs.ts'

// What becomes of a batch that fails, and of the items in it that are not at fault.

t.test("a fault that is everyone's rejects its batch, and no other", async (t) => {
  const { batches, run } = held()
  const gatherer = new Gatherer({ ...options, run, ...failing('everyone') })
  const first = [1, 2].map((id) => gatherer.add({ id }))
  await turns()
  const second = gatherer.add({ id: 3 })
  batches[0]?.end(new Error('away'))
  for (const result of first) await t.rejects(result, /away/)
  await turns()
  batches[1]?.end()
  t.equal(await second, 3)
})

t.test("'again' runs the same batch at most twice more, and then each item alone", async (t) => {
  const { batches, run, ids } = held()
  const gatherer = new Gatherer({ ...options, run, ...failing('again') })
  const results = [1, 2].map((id) => gatherer.add({ id }))
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

t.test("'alone' runs each item by itself, and only the one at fault fails", async (t) => {
  const seen: [number[], boolean][] = []
  const gatherer = new Gatherer({
    ...options,
    ...failing('alone'),
    async run(items: readonly Item[], { alone }) {
      const ids = items.map(({ id }) => id)
      seen.push([ids, alone])
      if (ids.includes(2)) throw new Error('poison')
      return ids
    },
  })
  const [first, poison, third] = [1, 2, 3].map((id) => gatherer.add({ id })) as [Promise<number>, ...Promise<number>[]]
  t.equal(await first, 1)
  await t.rejects(poison as Promise<number>, /poison/)
  t.equal(await third, 3)
  t.same(seen, [
    [[1, 2, 3], false],
    [[1], true],
    [[2], true],
    [[3], true],
  ])
})

t.test('one that waits alone keeps nobody waiting but its namesakes', async (t) => {
  const { batches, run, ids } = held()
  const gatherer = new Gatherer({ ...options, run, ...failing('alone') })
  const locked = gatherer.add({ id: 1, names: ['locked'] })
  await turns()
  batches[0]?.end(new Error('lock timeout'))
  await turns()
  t.same(ids(), [[1], [1]], 'a batch of one waits on by itself')
  void gatherer.add({ id: 2, names: ['locked'] })
  const neighbour = gatherer.add({ id: 3 })
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
  const gatherer = new Gatherer({ ...options, run, ...failing('alone') })
  const items: Item[] = [1, 2, 3, 4, 5].map((id) => ({ id, names: [`${id}`] }))
  const results = items.map((item) => gatherer.add(item))
  await turns()
  batches[0]?.end(new Error('lock timeout'))
  await turns()
  t.same(ids().slice(1), [[1], [2], [3], [4]], 'so many at once')
  ;(items[4] as Item).expired = true
  const namesake = gatherer.add({ id: 55, names: ['5'] })
  batches[1]?.end()
  await t.rejects(results[4] as Promise<number>, { code: 'SERVICE_UNAVAILABLE' })
  await turns()
  batches[5]?.end()
  t.equal(await namesake, 55)
})

t.test("'locked' runs each item by itself, and who is locked out is tried again and again", async (t) => {
  const { batches, run } = held()
  const gatherer = new Gatherer({ ...options, run, ...failing('locked') })
  const results = [1, 2].map((id) => gatherer.add({ id, names: [`${id}`] }))
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
  const gatherer = new Gatherer({ ...options, run, ...failing('locked') })
  const results = [1, 2, 3].map((id) => gatherer.add({ id, names: [`${id}`] }))
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
  const gatherer = new Gatherer({
    ...options,
    apart: ({ id }: Item) => [`${id}`],
    suspects: ({ names = [] }: Item) => names,
    run,
    ...failing('alone'),
  })
  const poison = gatherer.add({ id: 1, names: ['poison'] })
  await turns()
  batches[0]?.end(new Error('in a batch'))
  await turns()
  batches[1]?.end(new Error('alone'))
  await t.rejects(poison, /alone/)
  for (const id of [2, 3, 4]) void gatherer.add({ id, names: id === 3 ? [] : ['poison', 'other'] })
  await turns()
  t.match(batches.slice(2), [
    { ids: [2], alone: true },
    { ids: [4], alone: true },
    { ids: [3], alone: false },
  ])
  for (const index of [2, 3, 4]) batches[index]?.end()
  await turns()
  for (const id of [5, 6]) void gatherer.add({ id, names: ['poison'] })
  await turns()
  t.same(ids().at(-1), [5, 6])
})

t.test('only so much is remembered of what failed', async (t) => {
  const met: boolean[] = []
  const gatherer = new Gatherer({
    ...options,
    ...failing('alone'),
    async run(items: readonly Item[], { alone }) {
      if (items.some(({ id }) => id === 0)) met.push(alone)
      throw new Error('poison')
    },
  })
  const fail = (id: number) => gatherer.add({ id, names: [`${id}`] }).catch(() => {})
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
  const gatherer = new Gatherer({ ...options, run, ...failing('alone') })
  const results = await Promise.allSettled([gatherer.add({ id: 1 }), gatherer.add({ id: 2 })])
  t.same(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  t.equal(runs, 1)
})

t.test('a run that throws at once rejects its items', async (t) => {
  const run = () => {
    throw new Error('at once')
  }
  await t.rejects(new Gatherer({ ...options, run }).add({ id: 1 }), /at once/)
})
