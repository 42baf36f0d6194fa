import t from 'tap'
import type { Measured, Results } from '../../src/figures/results.ts'
import { inShort, reportText } from '../../src/report/text.ts'

const figures = {
  perSecond: 80,
  p50Ms: 10,
  p90Ms: 15,
  p99Ms: 20,
  p999Ms: 90,
  maxMs: 100,
  'cpuMs.postgres': 8,
  'cpuMs.gateway': 2,
  'cpuMs.client': 1,
  'cpuMs.servers': 10,
}
const one = (id: string, column: Measured['column'], failures = {}): Measured => ({
  id,
  column,
  group: 'any',
  title: `${id} <&> "quoted"`,
  shows: 'perSecond',
  samples: [
    { figures, failures },
    { figures: { ...figures, perSecond: 120 }, failures },
  ],
})
const results: Results = {
  measured: [one('pairs-32', 'this'), one('me', 'this', { 'GET: 503': 2 }), one('bare', 'reference')],
  books: [{ column: 'this', system: 'plain', compared: 12, differences: 1, examples: ['balances: somebody: differs'] }],
}

t.test('the report names medians with their spread, what was missed, what failed and books that differ', async (t) => {
  const text = reportText(results, false)
  t.match(text, /100 \(80\.0–120\)/)
  t.match(
    text,
    /Missed:\n {2}CPU per pair of all servers, 32 clients: 10\.0 ms, wanted at most 6 \(CPU ms: postgres 8\.00, gateway 2\.00\)/,
  )
  t.match(text, /4 × GET: 503/)
  t.match(text, /books of this: 1 differences\n {4}balances: somebody: differs/)
})

t.test('an open loop is told by its tail and judged by no target', async (t) => {
  const text = reportText(results, true)
  t.match(text, /p99\.9/)
  t.notMatch(text, /Targets/)
})

t.test('a number has the places that say something', async (t) => {
  t.same([0.0234, 5.128, 42.31, 1234.5, Number.NaN].map(inShort), ['0.023', '5.13', '42.3', '1,235', '–'])
})
