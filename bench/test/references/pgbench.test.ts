import t from 'tap'
import { resultIn } from '../../src/references/pgbench.ts'

t.test("pgbench's rate is read without the time of its connections, and its failures are told", async (t) => {
  const printed = `number of failed transactions: 3 (0.010%)
latency average = 7.6 ms
initial connection time = 40.1 ms
tps = 4210.513412 (without initial connection time)`
  t.same(resultIn(printed), { perSecond: 4210.513412, failures: { 'failed transactions': 3 } })
  t.same(resultIn(printed.replace('3 (', '0 (')).failures, {})
  t.throws(() => resultIn('pgbench: fatal'), /printed no rate/)
})

t.test('a run in which nothing ended is a rate of nothing, and a failure', async (t) => {
  const printed = 'number of transactions actually processed: 0\nnumber of failed transactions: 0 (NaN%)\n'
  t.same(resultIn(printed), { perSecond: 0, failures: { 'no transaction ended': 1 } })
})
