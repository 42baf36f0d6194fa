import { mkdirSync, writeFileSync } from 'node:fs'
import { arch, cpus, platform, totalmem } from 'node:os'
import { join } from 'node:path'
import { failuresOf, type Results } from '../figures/results.ts'
import { spread } from '../figures/statistics.ts'
import type { Options } from '../options.ts'
import { commitOf } from '../stack/running-stack.ts'
import { judge } from '../targets.ts'
import { reportText } from './text.ts'

/** Which versions, machine and options the figures belong to. Without them a figure means nothing a month later. */
export interface RunDescription {
  readonly startedAt: string
  readonly commit: string
  readonly commitBefore: string | null
  readonly machine: Readonly<Record<string, string | number>>
  readonly extent: Readonly<Record<string, string | number | boolean | null>>
}

export function describeRun(options: Options): RunDescription {
  const { short, openLoopRate, rounds, windowMs, warmUpMs, players, replayedKeys, accounts, rows, claims } = options
  return {
    startedAt: new Date().toISOString(),
    commit: commitOf(options.checkout),
    commitBefore: options.against === undefined ? null : commitOf(options.against),
    machine: {
      cores: cpus().length,
      processor: cpus()[0]?.model ?? 'unknown',
      memoryGiB: Math.round(totalmem() / 2 ** 30),
      system: `${platform()} ${arch()}`,
      node: process.version,
    },
    extent: {
      form: short ? 'short' : 'full',
      openLoopRate: openLoopRate ?? null,
      ...{ rounds, windowMs, warmUpMs, players, replayedKeys, accounts, rows, claims },
    },
  }
}

/** Writes the figures. @returns the report as text */
export function writeReport(results: Results, options: Options, description: RunDescription): string {
  const openLoop = options.openLoopRate !== undefined
  mkdirSync(options.out, { recursive: true })
  writeFileSync(
    join(options.out, 'results.json'),
    `${JSON.stringify({ ...description, ...asJson(results) }, null, 2)}\n`,
  )
  return `${reportText(results, openLoop)}\nThe figures are in ${join(options.out, 'results.json')}\n`
}

function asJson(results: Results) {
  return {
    cases: results.measured.map((one) => ({
      id: one.id,
      group: one.group,
      title: one.title,
      column: one.column,
      failures: failuresOf(one),
      figures: Object.fromEntries(
        [...new Set(one.samples.flatMap(({ figures }) => Object.keys(figures)))].map((name) => {
          const rounds = one.samples.map(({ figures }) => figures[name] ?? null)
          return [name, { ...spread(rounds.filter((value) => value !== null)), rounds }]
        }),
      ),
    })),
    targets: (['this', 'before'] as const).flatMap((column) =>
      judge(results, column).map(({ target, value, verdict }) => {
        const { title, against, unit, wants, must, wish } = target
        return { title, against, unit: unit ?? null, column, ...value, wants, must, wish, verdict }
      }),
    ),
    books: results.books,
  }
}
