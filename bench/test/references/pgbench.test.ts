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
