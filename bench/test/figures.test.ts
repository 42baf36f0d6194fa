import { readFileSync } from 'node:fs'
import t from 'tap'
import { bytesText } from '../src/bytes.ts'
import type { Column } from '../src/case.ts'
import { type Measured, percentile, type Results } from '../src/figures.ts'
import { parseOptions } from '../src/options.ts'
import { type FigureRow, inShort, reportText, withFigures } from '../src/report.ts'
import { otherWayRound } from '../src/run.ts'
import { judge, targets, verdictOn } from '../src/targets.ts'

t.test('a percentile is a value that was measured, and the least that enough values do not exceed', async (t) => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)
  t.equal(percentile(hundred, 0.5), 50)
  t.equal(percentile(hundred, 0.99), 99)
  t.equal(percentile(hundred, 1), 100)
  t.equal(percentile([7], 0.999), 7)
  t.ok(Number.isNaN(percentile([], 0.5)))
})

const measured = (id: string, column: Column, figures: readonly Record<string, number>[]): Measured => ({
  id,
  column,
  group: 'any',
  title: id,
  shows: 'perSecond',
  samples: figures.map((figures) => ({ figures, failures: {} })),
})
const results = (...measured: Measured[]): Results => ({ measured, books: [] })
const rates = (...values: number[]) => values.map((perSecond) => ({ perSecond }))

t.test('in every other round the checkouts change places; one alone is measured in reverse order', async (t) => {
  const [ofThis, ofBefore] = [measured('me', 'this', []), measured('me', 'before', [])]
  const [pages, pagesBefore] = [measured('page', 'this', []), measured('page', 'before', [])]
  const bare = measured('bare', 'reference', [])
  t.same(otherWayRound([ofThis, ofBefore, pages, pagesBefore, bare]), [ofBefore, ofThis, pagesBefore, pages, bare])
  t.same(otherWayRound([ofThis, bare]), [bare, ofThis])
})

t.test('a ratio compares the rounds one by one, and a reference stands for every checkout', async (t) => {
  const all = results(
    measured('me', 'this', rates(50, 100, 90)),
    measured('me', 'before', rates(10, 20, 30)),
    measured('bare', 'reference', rates(100, 200, 100)),
  )
  t.same(judge(all, 'this')[0]?.value, { median: 0.5, least: 0.5, most: 0.9 })
  t.same(judge(all, 'before')[0]?.value, { median: 0.1, least: 0.1, most: 0.3 })
})

t.test('a reference of other rounds is taken by its median', async (t) => {
  const all = results(
    measured('lasting-late', 'this', rates(10, 20, 30)),
    measured('sql-lasting', 'this', rates(100, 300)),
  )
  t.equal(judge(all, 'this')[0]?.value.median, 0.1)
})

t.test('what was not measured is not judged', async (t) => {
  t.same(judge(results(measured('me', 'this', rates(1))), 'this'), [])
  t.same(judge(results(), 'this'), [])
})

t.test('a bound is reached when it is met exactly, from either side', async (t) => {
  const least = { wants: 'at least', must: 2, wish: 3 } as const
  t.same(
    [1.9, 2, 3].map((value) => verdictOn(least, value)),
    ['short', 'must reached', 'wish reached'],
  )
  const most = { wants: 'at most', must: 2, wish: 1 } as const
  t.same(
    [2.1, 2, 1].map((value) => verdictOn(most, value)),
    ['short', 'must reached', 'wish reached'],
  )
  t.equal(verdictOn(least, Number.NaN), 'short')
})

t.test('what is wished is more than what must be', async (t) => {
  const mild = targets.filter(({ wants, must, wish }) => (wants === 'at least' ? wish <= must : wish >= must))
  t.same(mild, [])
})

t.test('the report names medians with their spread, what was missed, what failed and books that differ', async (t) => {
  const figures = { p50Ms: 10, p99Ms: 20, 'cpuMs.postgres': 8, 'cpuMs.gateway': 2, 'cpuMs.servers': 10 }
  const rounds = [80, 120].map((perSecond) => ({ ...figures, perSecond }))
  const pairs = measured('pairs-32', 'this', rounds)
  const failed = pairs.samples.map((sample) => ({ ...sample, failures: { 'GET: 503': 2 } }))
  const text = reportText({
    measured: [pairs, { ...measured('me', 'this', rounds), samples: failed }, measured('bare', 'reference', rounds)],
    books: [{ column: 'this', compared: 12, differences: 1, examples: ['balances: x: differs'] }],
  })
  t.match(text, /100 \(80\.0–120\)/)
  t.match(text, /CPU per pair of all servers, 32 clients .* 10\.0 ms \| short/)
  t.match(text, /4 × GET: 503/)
  t.match(text, /books of this: 1 differences\n {4}balances: x: differs/)
})

t.test('a number has the places that say something', async (t) => {
  t.same([0.0234, 5.128, 42.31, 1234.5, Number.NaN].map(inShort), ['0.023', '5.13', '42.3', '1,235', '–'])
})

const row = (title: string, value: string): FigureRow => [title, 'SQL', '≥ 1', '≥ 2', value, 'short']

t.test('a figure takes the place of its former one, with its commit, and every other row stays', async (t) => {
  const page = 'a\n<!-- figures -->\n| figure |\n|---|\n| old | x |\n| kept | y | 1a2b |\n<!-- end of figures -->\nb\n'
  const written = withFigures(page, [row('old', '3'), row('new', '4')], ['c0ffee', '2.15.1', '2026-11-22'])
  t.equal(
    written,
    `a
<!-- figures -->
| figure |
|---|
| old | SQL | ≥ 1 | ≥ 2 | 3 | short | c0ffee | 2.15.1 | 2026-11-22 |
| kept | y | 1a2b |
| new | SQL | ≥ 1 | ≥ 2 | 4 | short | c0ffee | 2.15.1 | 2026-11-22 |
<!-- end of figures -->
b
`,
  )
  t.throws(() => withFigures('no table', [], []), /no part for figures/)
})

t.test(
  'docs/performance.md has a row for each target, with what must be reached, a commit, a broker and a day',
  async (t) => {
    const page = readFileSync(new URL('../../docs/performance.md', import.meta.url), 'utf8')
    for (const { title, must, unit = '' } of targets) {
      const [line = ''] = page.split('\n').filter((one) => one.startsWith(`| ${title} |`))
      const cells = line.split('|').map((cell) => cell.trim())
      t.match(cells[3], new RegExp(`^[≥≤] ${must} ?${unit}$`), title)
      t.match(cells[7], /^(before )?[0-9a-f]{7,12}( with changes)?$/, title)
      t.match(cells[8], /^\d+\.\d+\.\d+$/, title)
      t.match(cells[9], /^\d{4}-\d\d-\d\d$/, title)
    }
  },
)

t.test('the sizes of disks follow from the bytes of a deposit and from how long they are kept', async (t) => {
  const text = bytesText({
    deposits: 100,
    tables: new Map([
      ['gateway.claim', 1_000],
      ['wallet.entry', 500],
      ['webhooks.secret', 1],
    ]),
    wal: 3_000,
    streamBytesPerEvent: 500,
    failures: { 'POST: 503': 2 },
  })
  t.match(text, /gateway\.claim \| 1,000 \| 24 hours/)
  t.match(text, /wallet\.entry .* for ever/)
  t.notMatch(text, /webhooks\.secret/, 'what is next to nothing is left out')
  t.match(text, /all \| 1,501 .*\n\n501 bytes are kept for ever\. Byte-days of what is emptied again: 1,000\./)
  // 30 a second for a day are 2,592,000 deposits of 1,000 bytes.
  t.match(text, /\n\| 30 \| 2\.59 \| 1\.30 \| 7\.78 \| 1\.30 \|\n/)
  t.match(text, /FAILED:\n\n? *2 × POST: 503/)
})

t.test('only what a full run measured is kept', async (t) => {
  const keeps = (...more: string[]) => parseOptions(['--write', ...more], ['me']).write
  t.ok(keeps() && keeps('--only', 'me') && keeps('--rounds', '10') && keeps('--lasting'))
  for (const less of ['--short', '--bytes', '--rounds=1', '--window-ms=700'])
    t.throws(() => keeps(less), { message: /^--write keeps figures of a full run only\.\n/ }, less)
})
