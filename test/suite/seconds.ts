import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root, type TestFile } from './files.ts'
import type { SecondsOf } from './order.ts'
import type { FinishedFile } from './test-file.ts'

const recordFile = join(root, 'test/suite/seconds.json')
/** Of files that take less nothing is written. */
const listedFrom = 2
/** Files of which nothing is written take about as long. */
const unlisted = 1

/** What `--record` wrote last, by the place of a file: order, groups and shards follow from it. */
const recorded: Readonly<Record<string, number>> = existsSync(recordFile)
  ? JSON.parse(readFileSync(recordFile, 'utf8'))
  : {}

export const secondsOf: SecondsOf = ({ place }) => recorded[place] ?? unlisted

/** Makes this run the record for the files that ran. */
export function record(finished: readonly FinishedFile[], all: readonly TestFile[]): void {
  const took = Object.fromEntries(finished.map(({ place, seconds }) => [place, seconds]))
  const lines = all
    .map(({ place }) => [place, Math.round(took[place] ?? recorded[place] ?? 0)] as const)
    .filter(([, seconds]) => seconds >= listedFrom)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(recordFile, `${JSON.stringify(Object.fromEntries(lines), undefined, 2)}\n`)
}
