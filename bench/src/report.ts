import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import type { Sample } from './case.ts'
import { failuresOf, isSound, type Measured, type Results, type Spread, shown, spread } from './figures.ts'
import type { Options } from './options.ts'
import { commitOf } from './stack/subject.ts'
import { type Judged, judge } from './targets.ts'

/** Which versions, machine and options the figures belong to. Without them a figure means nothing a month later. */
export function describeRun(options: Options) {
  return {
    startedAt: new Date().toISOString(),
    commit: commitOf(options.checkout),
    commitBefore: options.against === undefined ? null : commitOf(options.against),
    machine: { cores: cpus().length, processor: cpus()[0]?.model, memoryGiB: Math.round(totalmem() / 2 ** 30) },
    node: process.version,
    options,
  }
}
type RunDescription = ReturnType<typeof describeRun>

/** Writes the figures of each round, and what they say of the targets. @returns the report as text */
export function writeReport(results: Results, { out }: Options, description: RunDescription): string {
  const file = join(out, 'results.json')
  const targets = (['this', 'before'] as const).flatMap((column) => judge(results, column))
  mkdirSync(out, { recursive: true })
  writeFileSync(file, `${JSON.stringify({ ...description, ...results, targets }, null, 2)}\n`)
  return `${reportText(results)}\nThe figures are in ${file}\n`
}

/** A number with its significant places only. */
export function inShort(value: number): string {
  if (!Number.isFinite(value)) return '–'
  if (value >= 100) return Math.round(value).toLocaleString('en')
  if (value >= 10) return value.toFixed(1)
  // Targets of a few hundredths differ in the third place.
  return value.toFixed(value >= 0.1 || value === 0 ? 2 : 3)
}

/** The median, with the least and the most of the rounds. */
const withSpread = ({ median, least, most }: Spread): string =>
  least === most ? inShort(median) : `${inShort(median)} (${inShort(least)}–${inShort(most)})`

type Row = readonly string[]

/** The first column to the left, the others to the right. */
export function table(head: Row, rows: readonly Row[]): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: Row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ')
      .trimEnd()
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

const units: Readonly<Record<string, string>> = { perSecond: '/s', p50Ms: 'ms p50', p99Ms: 'ms p99', rssMiB: 'MiB' }

const figuresOf = ({ samples }: Measured, name: string): Spread =>
  spread(samples.flatMap(({ figures }) => figures[name] ?? []))

function measuredTable({ measured }: Results): string {
  const rows = measured.map((one) => [
    one.title,
    one.column,
    withSpread(shown(one)),
    units[one.shows] ?? one.shows,
    ...['p50Ms', 'p99Ms', 'cpuMs.servers', 'cpuMs.client'].map((name) => inShort(figuresOf(one, name).median)),
  ])
  const head = ['case', 'of', 'median (least–most)', '', 'p50 ms', 'p99 ms', 'CPU ms', 'client CPU ms']
  return table(head, rows)
}

/** Processor time per operation and process: shows where to look when a rate misses its target. */
function cpuTable({ measured }: Results): string | undefined {
  const pairs = measured.filter(({ id }) => id.startsWith('pairs'))
  const names = [...new Set(pairs.flatMap((one) => Object.keys(one.samples[0]?.figures ?? {})))]
    .filter((name) => name.startsWith('cpuMs.'))
    .map((name) => name.slice('cpuMs.'.length))
  if (names.length === 0) return undefined
  const rows = pairs.map((one) => [
    one.title,
    one.column,
    ...names.map((name) => inShort(figuresOf(one, `cpuMs.${name}`).median)),
  ])
  return `CPU ms per pair and process\n\n${table(['case', 'of', ...names], rows)}`
}

const inUnit = ({ target, value }: Judged): string =>
  target.unit === undefined ? withSpread(value) : `${withSpread(value)} ${target.unit}`

function targetTable(judged: readonly Judged[]): string {
  const rows = judged.map((one) => [
    one.target.title,
    one.target.against,
    one.column,
    inUnit(one),
    `${one.target.wants} ${one.target.must}`,
    String(one.target.wish),
    one.verdict,
  ])
  return `Targets\n\n${table(['', 'against', 'of', 'median (least–most)', 'must', 'wish', ''], rows)}`
}

function failureLines({ measured, books }: Results): string {
  const failed = measured.flatMap((one) =>
    Object.entries(failuresOf(one)).map(([what, count]) => `  ${one.title} (${one.column}): ${count} × ${what}`),
  )
  const wrong = books.flatMap(({ column, differences, examples }) =>
    differences === 0
      ? []
      : [`  books of ${column}: ${differences} differences`, ...examples.map((text) => `    ${text}`)],
  )
  const compared = books.reduce((sum, one) => sum + one.compared, 0)
  const sound = `Books: ${inShort(compared)} records compared, ${wrong.length === 0 ? 'no difference' : 'DIFFERENCES'}.`
  return failed.length + wrong.length === 0
    ? `Failed: nothing. ${sound}`
    : ['FAILED:', ...failed, ...wrong, sound].join('\n')
}

/** When other programs use more than this share of the machine, absolute figures mean little. */
const othersShareMax = 0.1

function noise({ measured }: Results): string | undefined {
  const share = spread(measured.flatMap(({ samples }) => samples.flatMap(({ figures }) => figures.othersShare ?? [])))
  if (!(share.median > othersShareMax)) return undefined
  return `Other programs used ${inShort(share.median * 100)} % of this machine's processor time: absolute figures of this run mean little.`
}

/** The report that is printed at the end of a run. */
export function reportText(results: Results): string {
  const columns = [...new Set(results.measured.map(({ column }) => column))].filter((column) => column !== 'reference')
  const judged = columns.flatMap((column) => judge(results, column))
  const parts = [measuredTable(results), cpuTable(results), targetTable(judged), failureLines(results), noise(results)]
  return `\n${parts.filter((part) => part !== undefined).join('\n\n')}\n`
}

// `--write` puts figures into docs/performance.md, each with the commit and the day at which it was measured.

const page = new URL('../../docs/performance.md', import.meta.url)
const [begin, end] = ['<!-- figures -->\n', '<!-- end of figures -->']

/** A line of the table: what is measured, against what, must, wish, the figure, the verdict. */
export type FigureRow = readonly [title: string, against: string, must: string, wish: string, value: string, is: string]

/** What the run says of the targets. */
const rowsOf = (results: Results): readonly FigureRow[] =>
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
