import type { TestFile } from './files.ts'

export type Group = readonly [TestFile, ...TestFile[]]

/** So many files share a process at most: the others of a group wait for it, and a crash takes its time from all. */
const groupFilesMax = 12
/** A file that takes longer gains nothing from company, which would wait for it. */
const sharedSecondsMax = 8

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

/** Files of one workspace that may share a process, as groups; every other file is alone in its own. The longest first. */
export function inGroups(files: readonly TestFile[], secondsOf: SecondsOf): readonly Group[] {
  const shares = (file: TestFile) => file.mayShareProcess && secondsOf(file) <= sharedSecondsMax
  const byWorkspace = Map.groupBy(files.filter(shares), ({ workspace }) => workspace)
  const shared = [...byWorkspace.values()].flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / groupFilesMax) }, (_, index) =>
      all.slice(index * groupFilesMax, (index + 1) * groupFilesMax),
    ),
  )
  const alone = files.filter((file) => !shares(file)).map((file) => [file])
  return ([...shared, ...alone] as unknown as Group[]).toSorted((a, b) => sum(b, secondsOf) - sum(a, secondsOf))
}

export interface Places {
  /** So many take the first of what is left. */
  readonly first: number
  /** So many take the last of what is left. */
  readonly last: number
}

/** Runs `work` on each item, as many at once as there are places. */
export async function runAll<T>(items: readonly T[], places: Places, work: (item: T) => Promise<void>): Promise<void> {
  const left = [...items]
  const place = async (take: () => T | undefined) => {
    for (let item = take(); item !== undefined; item = take()) await work(item)
  }
  const first = Array.from({ length: places.first }, () => place(() => left.shift()))
  const last = Array.from({ length: places.last }, () => place(() => left.pop()))
  await Promise.all([...first, ...last])
}
