import type { TestFile } from './files.ts'

export type Group = readonly [TestFile, ...TestFile[]]

/**
 * So many processes have the files that may share one: few, because to load the services costs more than what most files
 * do with them, and enough that the last of them do not keep one core busy alone.
 */
const sharedProcesses = 12

/** How many seconds a file takes, as far as anybody knows. */
export type SecondsOf = (file: TestFile) => number

const sum = (files: readonly TestFile[], secondsOf: SecondsOf) =>
  files.reduce((total, file) => total + secondsOf(file), 0)

const longestFirst = (secondsOf: SecondsOf) => (a: TestFile, b: TestFile) => secondsOf(b) - secondsOf(a)

/**
 * The files of one of several machines, which take about as long as those of each other: the longest first, each to the
 * machine that has least to do.
 * @param number from 1 to `count`
 */
export function shardOf(files: readonly TestFile[], number: number, count: number, secondsOf: SecondsOf): TestFile[] {
  const shards = Array.from({ length: count }, () => ({ files: [] as TestFile[], seconds: 0 }))
  for (const file of files.toSorted(longestFirst(secondsOf))) {
    const least = shards.reduce((a, b) => (b.seconds < a.seconds ? b : a))
    least.files.push(file)
    least.seconds += secondsOf(file)
  }
  return shards[number - 1]?.files ?? []
}

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
