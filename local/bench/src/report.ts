import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, totalmem } from 'node:os'
import { join } from 'node:path'
import { natsServerBinary, natsServerVersion } from '@backoffice/local-stack'
import { type Column, failuresOf, isSound, judge, type Measured, type Results, type Spread, spread } from './figures.ts'
import type { Options } from './options.ts'

/** Which versions, machine and options the figures belong to. Without them a figure means nothing a month later. */
export async function describeRun(options: Options) {
  return {
    startedAt: new Date().toISOString(),
    commit: commitOf(options.checkout),
    commitBefore: options.against === undefined ? null : commitOf(options.against),
    machine: { cores: cpus().length, processor: cpus()[0]?.model, memoryGiB: Math.round(totalmem() / 2 ** 30) },
    node: process.version,
    broker: /v([\d.]+)/.exec(await natsServerVersion(await natsServerBinary()))?.[1] ?? 'unknown',
    options,
  }
}
type RunDescription = Awaited<ReturnType<typeof describeRun>>

/** The commit of a checkout, marked when files differ from it. */
function commitOf(checkout: string): string {
  const git = (...args: string[]) => execFileSync('git', ['-C', checkout, ...args], { encoding: 'utf8' }).trim()
  try {
    const changed = git('status', '--porcelain', '--untracked-files=no') !== ''
    return `${git('rev-parse', '--short', 'HEAD')}${changed ? ' with changes' : ''}`
  } catch {
    return 'unknown'
  }
}

/** Writes the figures of each round, and what they say of the targets. @returns the report as text */
export function writeReport(results: Results, { out }: Options, description: RunDescription): string {
  const file = join(out, 'results.json')
  const targets = columns.flatMap((column) => judge(results, column))
  mkdirSync(out, { recursive: true })
  writeFileSync(file, `${JSON.stringify({ ...description, ...results, targets }, null, 2)}\n`)
  const head = ['figure', 'against', 'must', 'wish', 'median (least–most)', '', 'of']
  const judged = columns.flatMap((column) => rowsOf(results, column).map((row) => [...row, column]))
  const tables = [measuredTable(results), cpuTable(results), table(head, judged), ...Object.values(results.texts ?? {})]
  return `\n${[...tables, ...failureLines(results), ...noise(results)].join('\n\n')}\n\nThe figures are in ${file}\n`
}

const columns = ['this', 'before'] as const

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

const figuresOf = ({ samples }: Measured, name: string): Spread =>
  spread(samples.flatMap(({ figures }) => figures[name] ?? []))

function measuredTable({ measured }: Results): string {
  const rows = measured.map((one) => [
    ...[one.title, one.column, withSpread(figuresOf(one, one.shows)), one.shows],
    ...['p50Ms', 'p99Ms', 'cpuMs.servers', 'cpuMs.client'].map((name) => inShort(figuresOf(one, name).median)),
  ])
  return table(['case', 'of', 'median (least–most)', '', 'p50 ms', 'p99 ms', 'CPU ms', 'client CPU ms'], rows)
}

/** Processor time per operation and process: shows where to look when a rate misses its target. */
function cpuTable({ measured }: Results): string {
  const loads = measured.filter(
    ({ column, samples }) => column !== 'reference' && 'p50Ms' in (samples[0]?.figures ?? {}),
  )
  const all = loads.flatMap(({ samples }) => Object.keys(samples[0]?.figures ?? {}))
  const names = [...new Set(all)].filter((name) => name.startsWith('cpuMs.'))
  const rows = loads.map((one) => [
    ...[one.title, one.column],
    ...names.map((name) => inShort(figuresOf(one, name).median)),
  ])
  return `CPU ms per operation and process\n\n${table(['case', 'of', ...names], rows)}`
}

/** A line of the table: what is measured, against what, must, wish, the figure, the verdict. */
type FigureRow = readonly [title: string, against: string, must: string, wish: string, value: string, is: string]

/** What a run says of the targets. */
const rowsOf = (results: Results, column: Column): readonly FigureRow[] =>
  judge(results, column).map(({ target, value, verdict }) => {
    const { title, against = '', unit = '', wants, must, wish } = target
    const bound = (of: number) => `${wants === 'at least' ? '≥' : '≤'} ${of} ${unit}`.trim()
    return [title, against, bound(must), bound(wish), `${withSpread(value)} ${unit}`.trim(), verdict]
  })

function failureLines({ measured, books }: Results): readonly string[] {
  const failed = measured.flatMap((one) =>
    Object.entries(failuresOf(one)).map(([what, count]) => `  ${one.title} (${one.column}): ${count} × ${what}`),
  )
  const wrong = books
    .filter(({ differences }) => differences > 0)
    .flatMap(({ column, differences, examples }) => [`  books of ${column}: ${differences} differences`, ...examples])
  const compared = books.reduce((sum, one) => sum + one.compared, 0)
  const found = [...failed, ...wrong]
  return [found.length === 0 ? 'Failed: nothing.' : ['FAILED:', ...found].join('\n'), `${compared} records compared.`]
}

/** When other programs use more than this share of the machine, absolute figures mean little. */
const othersShareMax = 0.1

function noise({ measured }: Results): readonly string[] {
  const { median } = spread(
    measured.flatMap(({ samples }) => samples.flatMap(({ figures }) => figures.othersShare ?? [])),
  )
  const percent = inShort(median * 100)
  return median > othersShareMax
    ? [`Other programs used ${percent} % of this machine's processor time: absolute figures of this run mean little.`]
    : []
}

// `--write` puts figures into docs/performance.md, each with the commit and the day at which it was measured.

const page = new URL('../../../docs/performance.md', import.meta.url)

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
const withFigures = (text: string, rows: readonly FigureRow[], run: readonly string[]): string =>
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
  const measuredAt = `Measured at ${commit} on ${run[2]}, with nats-server ${broker}.`
  const parts = Object.entries(results.texts ?? {})
  writeFileSync(
    page,
    parts.reduce((page, [name, part]) => withPart(page, name, () => `${measuredAt}\n\n${part}`), rows),
  )
}
