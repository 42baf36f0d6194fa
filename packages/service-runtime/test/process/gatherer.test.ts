import t from 'tap'
import { Gatherer, GathererFullError } from '../src/index.ts'

/** A run that the test ends by hand. */
function held() {
  const batches: { items: number[]; end: (results: number[] | Error) => void }[] = []
  const run = (items: number[]) =>
    new Promise<number[]>((resolve, reject) => {
      batches.push({ items, end: (results) => (results instanceof Error ? reject(results) : resolve(results)) })
    })
  return { batches, run }
}
const turn = () => new Promise((resolve) => setImmediate(resolve))

t.test('what arrives while a batch runs forms the next ones, bounded, in order of arrival', async (t) => {
  const { batches, run } = held()
  const gatherer = new Gatherer({ run, batchMax: 3, queueMax: 10 })
  const results = [1, 2].map((item) => gatherer.add(item))
  await turn()
  results.push(...[3, 4, 5, 6].map((item) => gatherer.add(item)))
  t.same(
    batches.map(({ items }) => items),
    [[1, 2]],
  )
  batches[0]?.end([10, 20])
  await Promise.all(results.slice(0, 2))
  await turn()
  batches[1]?.end([30, 40, 50])
  await results[4]
  await turn()
  batches[2]?.end([60])
  t.same(await Promise.all(results), [10, 20, 30, 40, 50, 60])
  t.same(
    batches.map(({ items }) => items),
    [[1, 2], [3, 4, 5], [6]],
  )
})

t.test('a batch that fails rejects its own items only', async (t) => {
  const { batches, run } = held()
  const gatherer = new Gatherer({ run, batchMax: 1, queueMax: 10 })
  const first = gatherer.add(1)
  const second = gatherer.add(2)
  await turn()
  batches[0]?.end(new Error('broken'))
  await t.rejects(first, /broken/)
  await turn()
  batches[1]?.end([2])
  t.equal(await second, 2)
})

t.test('a full queue refuses', async (t) => {
  const gatherer = new Gatherer({ run: held().run, batchMax: 1, queueMax: 1 })
  void gatherer.add(1)
  await t.rejects(gatherer.add(2), GathererFullError)
})

t.test('a wrong number of results is a bug, told to all', async (t) => {
  const gatherer = new Gatherer({ run: async () => [1], batchMax: 5, queueMax: 5 })
  const results = await Promise.allSettled([gatherer.add(1), gatherer.add(2)])
  t.same(
    results.map(({ status }) => status),
    ['rejected', 'rejected'],
  )
})
