import type { TestFile } from './files.ts'

export type Group = readonly [TestFile, ...TestFile[]]

/**
 * So many processes have the files that may share one: few, because to load the services costs more than what most files
 * do with them, and enough that the last of them do not keep one core busy alone.
 */
const sharedProcesses = 12

/** One of several machines. */
export interface Shard {
  /** From 1. */
  readonly number: number
  readonly count: number
}

/** How many seconds a file takes, as far as anybody knows. */
export type SecondsOf = (file: TestFile) => number

const sum = (files: readonly TestFile[], secondsOf: SecondsOf) =>
  files.reduce((total, file) => total + secondsOf(file), 0)

/** The files of one of several machines, which take about as long as those of each other, each machine in turn. */
export const shardOf = (files: readonly TestFile[], { number, count }: Shard, secondsOf: SecondsOf) =>
  files.toSorted((a, b) => secondsOf(b) - secondsOf(a)).filter((_, index) => index % count === number - 1)

/**
 * Files that may share a process, as groups that take about as long as each other; every other file is alone in its own.
 * Neighbours stay together, because some share what they start. The longest group comes first.
 */
export function inGroups(files: readonly TestFile[], secondsOf: SecondsOf): readonly Group[] {
  const shared = files.filter(({ mayShareProcess }) => mayShareProcess)
  const most = sum(shared, secondsOf) / sharedProcesses
  const groups: TestFile[][] = files.filter(({ mayShareProcess }) => !mayShareProcess).map((file) => [file])
  for (const kind of Map.groupBy(shared, ({ sharesSystem, waits }) => `${sharesSystem} ${waits}`).values()) {
    let group: TestFile[] = []
    for (const file of kind) {
      if (group.length === 0 || sum(group, secondsOf) + secondsOf(file) > most) {
        group = []
        groups.push(group)
      }
      group.push(file)
    }
  }
  return (groups as unknown as Group[]).toSorted((a, b) => sum(b, secondsOf) - sum(a, secondsOf))
}

/** Runs `work` on each item in turn, as many at once as there are places. */
export async function runAll<T>(items: readonly T[], places: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const place = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: places }, place))
}
