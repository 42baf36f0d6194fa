// Nobody dies here: clients are at once, and some of them send one request twice, break off, and come again.

import t from 'tap'
import { Random } from './random.ts'
import { expectNone, MoneyBed } from './run.ts'

t.test('whatever clients do at once and in any order, every acknowledged effect happens once', async (t) => {
  const random = Random.of(t)
  const money = await MoneyBed.start(t, random)
  // What comes at once meets in the database, not only in the queues of one process.
  await Promise.all([money.bed.start('payments'), money.bed.start('wallet')])
  const load = money.load('load')
  t.teardown(() => load.end())
  await money.answers(400)
  expectNone(t, await money.conclude(), random)
})
