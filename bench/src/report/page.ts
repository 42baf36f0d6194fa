import { readFileSync, writeFileSync } from 'node:fs'
import type { Sample } from '../case.ts'
import { isSound, type Results } from '../figures/results.ts'
import { spread } from '../figures/statistics.ts'
import { judge } from '../targets.ts'
import { withSpread } from './text.ts'

// `--write` puts figures into docs/performance.md, each with the commit and the day at which it was measured.

const page = new URL('../../../docs/performance.md', import.meta.url)
const [begin, end] = ['<!-- figures -->\n', '<!-- end of figures -->']

/** A line of the table: what is measured, against what, must, wish, the figure, the verdict. */
export type FigureRow = readonly [title: string, against: string, must: string, wish: string, value: string, is: string]

/** What the run says of the targets. */
export const rowsOf = (results: Results): readonly FigureRow[] =>
  judge(results, 'this').map(({ target, value, verdict }) => {
    const { title, against, unit = '', wants, must, wish } = target
    const bound = (of: number) => `${wants === 'at least' ? '≥' : '≤'} ${of} ${unit}`.trim()
    return [title, against, bound(must), bound(wish), `${withSpread(value)} ${unit}`.trim(), verdict]
  })

const lasting = {
  'pairs/s': ['perSecond', ''],
  p99: ['p99Ms', 'ms'],
  'PostgreSQL a pair': ['cpuMs.postgres', 'ms'],
  'nats-server a pair': ['cpuMs.nats', 'ms'],
} as const

/** What five minutes on a fresh system say: no target, but the spread of their quarter minutes. */
export const rowsOfLasting = (samples: readonly Sample[]): readonly FigureRow[] =>
  Object.entries(lasting).map(([name, [figure, unit]]) => {
    const value = spread(samples.map(({ figures }) => figures[figure] ?? Number.NaN))
    return [`five minutes, 32 clients: ${name}`, '', '', '', `${withSpread(value)} ${unit}`.trim(), '']
  })

/** The page with these rows in place of their former ones. What was not measured stays, with the commit that it has. */
export function withFigures(text: string, rows: readonly FigureRow[], commit: string, day: string): string {
  const from = text.indexOf(begin) + begin.length
  const to = text.indexOf(end)
  if (from < begin.length || to < from) throw new Error('docs/performance.md has no table of figures.')
  const lines = text.slice(from, to).trimEnd().split('\n')
  for (const row of rows) {
    const line = `| ${[...row, commit, day].join(' | ')} |`
    const former = lines.findIndex((one) => one.startsWith(`| ${row[0]} |`))
    if (former < 0) lines.push(line)
    else lines[former] = line
  }
  return `${text.slice(0, from)}${lines.join('\n')}\n${text.slice(to)}`
}

/** @throws when requests failed or books differ: such figures are not kept */
export function writeFigures(results: Results, { commit, startedAt }: { commit: string; startedAt: string }): void {
  if (!isSound(results)) throw new Error('Requests failed or books differ, so nothing is written.')
  writeRows(rowsOf(results), commit, startedAt)
}

export function writeRows(rows: readonly FigureRow[], commit: string, startedAt: string): void {
  writeFileSync(page, withFigures(readFileSync(page, 'utf8'), rows, commit, startedAt.slice(0, 10)))
}
