import { readFileSync } from 'node:fs'
import t from 'tap'
import { type FigureRow, withFigures } from '../../src/report/page.ts'
import { targets } from '../../src/targets.ts'

const row = (title: string, value: string): FigureRow => [title, 'SQL', '≥ 1', '≥ 2', value, 'short']

t.test('a figure takes the place of its former one, with its commit, and every other row stays', async (t) => {
  const page = 'a\n<!-- figures -->\n| figure |\n|---|\n| old | x |\n| kept | y | 1a2b |\n<!-- end of figures -->\nb\n'
  const written = withFigures(page, [row('old', '3'), row('new', '4')], 'c0ffee', '2026-11-22')
  t.equal(
    written,
    `a
<!-- figures -->
| figure |
|---|
| old | SQL | ≥ 1 | ≥ 2 | 3 | short | c0ffee | 2026-11-22 |
| kept | y | 1a2b |
| new | SQL | ≥ 1 | ≥ 2 | 4 | short | c0ffee | 2026-11-22 |
<!-- end of figures -->
b
`,
  )
  t.throws(() => withFigures('no table', [], '', ''), /no table of figures/)
})

t.test('docs/performance.md has a row for each target, with what must be reached, a commit and a day', async (t) => {
  const page = readFileSync(new URL('../../../docs/performance.md', import.meta.url), 'utf8')
  for (const { title, must, unit = '' } of targets) {
    const [line = ''] = page.split('\n').filter((one) => one.startsWith(`| ${title} |`))
    const cells = line.split('|').map((cell) => cell.trim())
    t.match(cells[3], new RegExp(`^[≥≤] ${must} ?${unit}$`), title)
    t.match(cells[7], /^(before )?[0-9a-f]{7,12}( with changes)?$/, title)
    t.match(cells[8], /^\d{4}-\d\d-\d\d$/, title)
  }
})
