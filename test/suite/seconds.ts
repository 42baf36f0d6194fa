import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root, type TestFile } from './files.ts'
import type { SecondsOf } from './order.ts'
import type { FinishedFile } from './test-file.ts'

/** By the place of the file. */
export type Seconds = Readonly<Record<string, number>>

const referenceFile = join(root, 'test/suite/seconds.json')
const lastRunsFile = join(root, '.cache/test-seconds.json')
/** Of files that take less nothing is written. */
const listedFrom = 2
/** Files of which nothing is written take about as long. */
const unlisted = 1
const runsKept = 20
/** A file has grown when it takes so many times as long, */
const growth = 1.5
/** and so many seconds more. */
const growthSecondsMin = 5

const readJson = <T>(file: string, otherwise: T): T =>
  existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : otherwise

/** What `--record` wrote last: order and shards follow from it, and what has grown is held against it. */
export const reference: Seconds = readJson(referenceFile, {})

export const secondsOf: SecondsOf = ({ place }) => reference[place] ?? unlisted

const took = (finished: readonly FinishedFile[]): Seconds =>
  Object.fromEntries(finished.map(({ place, seconds }) => [place, Math.round(seconds * 10) / 10]))

/** Makes this run the reference for the files that ran. */
export function record(finished: readonly FinishedFile[], all: readonly TestFile[]): void {
  const known = { ...reference, ...took(finished) }
  const lines = all
    .map(({ place }) => [place, Math.round(known[place] ?? 0)] as const)
    .filter(([, seconds]) => seconds >= listedFrom)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(referenceFile, `${JSON.stringify(Object.fromEntries(lines), undefined, 2)}\n`)
}

interface LastRuns {
  readonly seconds: Seconds
  /** Of each run, the latest first, the files that failed beside others and passed alone. */
  readonly unstable: readonly (readonly string[])[]
}

/**
 * Writes what this run took into `.cache/test-seconds.json`.
 * @returns the places of files that were unstable lately, with the number of runs
 */
export function remember(
  finished: readonly FinishedFile[],
  unstable: readonly TestFile[],
): ReadonlyMap<string, number> {
  const before = readJson<LastRuns>(lastRunsFile, { seconds: {}, unstable: [] })
  const runs = [unstable.map(({ place }) => place), ...before.unstable].slice(0, runsKept)
  const now: LastRuns = { seconds: { ...before.seconds, ...took(finished) }, unstable: runs }
  mkdirSync(dirname(lastRunsFile), { recursive: true })
  writeFileSync(lastRunsFile, JSON.stringify(now))
  const counts = new Map<string, number>()
  for (const place of runs.flat()) counts.set(place, (counts.get(place) ?? 0) + 1)
  return counts
}

/**
 * Files that take longer than they did, in a line each. Machines differ, and one may be busy: what counts is the pace of
 * the other files of the same run.
 */
export function grown(now: Seconds, before: Seconds): readonly string[] {
  const known = Object.entries(now).flatMap(([place, seconds]) => {
    const was = before[place]
    return was === undefined ? [] : [{ place, seconds, was }]
  })
  const paces = known.map(({ seconds, was }) => seconds / was).toSorted((a, b) => a - b)
  const pace = paces[Math.floor(paces.length / 2)] ?? 1
  return known
    .map((file) => ({ ...file, expected: file.was * pace }))
    .filter(({ seconds, expected }) => seconds > expected * growth && seconds > expected + growthSecondsMin)
    .map(({ place, seconds, expected }) => `${place}  ${seconds} s, expected ${expected.toFixed(0)} s`)
}

export const grownSince = (finished: readonly FinishedFile[]) => grown(took(finished), reference)
