import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, type TestFile } from './files.ts'
import type { SecondsOf } from './order.ts'
import type { FinishedFile } from './test-file.ts'

/** By the place of the file. */
export type Seconds = Readonly<Record<string, number>>

const referenceFile = join(root, 'test/suite/seconds.json')
/** Of files that take less nothing is written. */
const listedFrom = 2
/** Files of which nothing is written take about as long. */
const unlisted = 1
/** A file has grown when it takes so many times as long, */
const growth = 1.5
/** and so many seconds more. */
const growthSecondsMin = 5

/** What `--record` wrote last: order and shards follow from it, and what has grown is held against it. */
export const reference: Seconds = existsSync(referenceFile) ? JSON.parse(readFileSync(referenceFile, 'utf8')) : {}

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
