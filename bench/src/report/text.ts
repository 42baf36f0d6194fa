import type { Column } from '../case.ts'
import { failuresOf, find, type Measured, type Results, shown } from '../figures/results.ts'
import { type Spread, spread } from '../figures/statistics.ts'
import { type Judged, judge } from '../targets.ts'

/** A number with its significant places only. */
export function inShort(value: number): string {
  if (!Number.isFinite(value)) return '–'
  if (value >= 100) return Math.round(value).toLocaleString('en')
  if (value >= 10) return value.toFixed(1)
  // Targets of a few hundredths differ in the third place.
  return value.toFixed(value >= 0.1 || value === 0 ? 2 : 3)
}

/** The median, with the least and the most of the rounds. */
export const withSpread = ({ median, least, most }: Spread): string =>
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

/** The latencies of each case up to the slowest, which is what an open loop is for. */
function tailTable({ measured }: Results): string {
  const names = ['p50Ms', 'p90Ms', 'p99Ms', 'p999Ms', 'maxMs']
  const rows = measured.map((one) => [one.title, one.column, ...names.map((name) => withSpread(figuresOf(one, name)))])
  return `Latency in ms, from the moment each operation was meant to begin\n\n${table(['case', 'of', 'p50', 'p90', 'p99', 'p99.9', 'most'], rows)}`
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

/** The targets that are missed, each with the processes that use the most processor time for one operation. */
function shortfalls(results: Results, judged: readonly Judged[]): string {
  const short = judged.filter(({ column, verdict }) => column === 'this' && verdict === 'short')
  if (short.length === 0) return 'All targets that were measured are reached.'
  const lines = short.map((one) => {
    const wanted = `${inUnit(one)}, wanted ${one.target.wants} ${one.target.must}`
    return `  ${one.target.title}: ${wanted}${busiest(results, one)}`
  })
  return `Missed:\n${lines.join('\n')}`
}

const busiestMax = 3

function busiest(results: Results, { target, column }: Judged): string {
  const one = find(results, { id: target.of.id, column })
  if (one === undefined) return ''
  const shares = Object.keys(one.samples[0]?.figures ?? {})
    .filter((name) => name.startsWith('cpuMs.') && name !== 'cpuMs.servers' && name !== 'cpuMs.client')
    .map((name) => ({ name: name.slice('cpuMs.'.length), ms: figuresOf(one, name).median }))
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, busiestMax)
  return shares.length === 0 ? '' : ` (CPU ms: ${shares.map(({ name, ms }) => `${name} ${inShort(ms)}`).join(', ')})`
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
export function reportText(results: Results, openLoop: boolean): string {
  const columns = [...new Set(results.measured.map(({ column }) => column))].filter((column) => column !== 'reference')
  const judged = openLoop ? [] : columns.flatMap((column: Column) => judge(results, column))
  const parts = [
    measuredTable(results),
    openLoop ? tailTable(results) : cpuTable(results),
    ...(openLoop ? [] : [targetTable(judged), shortfalls(results, judged)]),
    failureLines(results),
    noise(results),
  ]
  return `\n${parts.filter((part) => part !== undefined).join('\n\n')}\n`
}
