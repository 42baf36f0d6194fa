import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { natsServerBinary, natsServerVersion } from '@backoffice/dev-stack'
import type { Column } from './case.ts'
import { failuresOf, isSound, type Measured, type Results, type Spread, shown, spread } from './figures.ts'
import type { Options } from './options.ts'
import { commitOf } from './stack/subject.ts'
import { judge } from './targets.ts'

/** Which versions, machine and options the figures belong to. Without them a figure means nothing a month later. */
export async function describeRun(options: Options) {
  return {
    startedAt: new Date().toISOString(),
    commit: commitOf(options.checkout),
    commitBefore: options.against === undefined ? null : commitOf(options.against),
    machine: { cores: cpus().length, processor: cpus()[0]?.model, memoryGiB: Math.round(totalmem() / 2 ** 30) },
    node: process.version,
    broker: await brokerVersion(),
    options,
  }
}
type RunDescription = Awaited<ReturnType<typeof describeRun>>

/** Of the broker that the systems and the references use. */
async function brokerVersion(): Promise<string> {
  const printed = await natsServerVersion(await natsServerBinary())
  return /v([\d.]+)/.exec(printed)?.[1] ?? 'unknown'
}

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

/** In Markdown. */
export const table = (head: Row, rows: readonly Row[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')

const units: Readonly<Record<string, string>> = {
  perSecond: '/s',
  operationP50Ms: 'ms p50 of all',
  p99Ms: 'ms p99',
  pssMiB: 'MiB',
  worstToBest: '',
}

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
  const pairs = measured.filter(({ id }) => id.startsWith('pairs') || id === 'lasting')
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

/** A line of the table: what is measured, against what, must, wish, the figure, the verdict. */
export type FigureRow = readonly [title: string, against: string, must: string, wish: string, value: string, is: string]

/** What a run says of the targets. */
const rowsOf = (results: Results, column: Column): readonly FigureRow[] =>
  judge(results, column).map(({ target, value, verdict }) => {
    const { title, against, unit = '', wants, must, wish } = target
    const bound = (of: number) => `${wants === 'at least' ? '≥' : '≤'} ${of} ${unit}`.trim()
    return [title, against, bound(must), bound(wish), `${withSpread(value)} ${unit}`.trim(), verdict]
  })

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
  const head = ['figure', 'against', 'must', 'wish', 'median (least–most)', '', 'of']
  const judged = (['this', 'before'] as const).flatMap((column) =>
    rowsOf(results, column).map((row) => [...row, column]),
  )
  const texts = Object.values(results.texts ?? {})
  const tables = [measuredTable(results), cpuTable(results), table(head, judged)]
  const parts = [...tables, ...texts, failureLines(results), noise(results)]
  return `\n${parts.filter((part) => part !== undefined).join('\n\n')}\n`
}

// `--write` puts figures into docs/performance.md, each with the commit and the day at which it was measured.

const page = new URL('../../docs/performance.md', import.meta.url)

/** The page with a part changed that stands between two marks. */
function withPart(text: string, name: string, change: (former: string) => string): string {
  const [begin, end] = [`<!-- ${name} -->\n`, `<!-- end of ${name} -->`]
  const [from, to] = [text.indexOf(begin) + begin.length, text.indexOf(end)]
  if (from < begin.length || to < from) throw new Error(`docs/performance.md has no part for ${name}.`)
  return `${text.slice(0, from)}${change(text.slice(from, to).trimEnd())}\n${text.slice(to)}`
}

/**
 * The page with these rows in place of their former ones. What was not measured stays as it is.
 * @param run commit, broker and day
 */
export const withFigures = (text: string, rows: readonly FigureRow[], run: readonly string[]): string =>
  withPart(text, 'figures', (former) => {
    const lines = former.split('\n')
    for (const row of rows) {
      const line = `| ${[...row, ...run].join(' | ')} |`
      const place = lines.findIndex((one) => one.startsWith(`| ${row[0]} |`))
      if (place < 0) lines.push(line)
      else lines[place] = line
    }
    return lines.join('\n')
  })

/** @throws when requests failed or books differ: such figures are not kept */
export function writeFigures(results: Results, { commit, broker, startedAt }: RunDescription): void {
  if (!isSound(results)) throw new Error('Requests failed or books differ, so nothing is written.')
  const run = [commit, broker, startedAt.slice(0, 10)]
  const rows = withFigures(readFileSync(page, 'utf8'), rowsOf(results, 'this'), run)
  const parts = Object.entries(results.texts ?? {})
  const text = parts.reduce(
    (page, [name, part]) =>
      withPart(page, name, () => `Measured at ${commit} on ${run[2]}, with nats-server ${broker}.\n\n${part}`),
    rows,
  )
  writeFileSync(page, text)
}
