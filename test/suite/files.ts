import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** `npm test`, which whoever changes something waits for, and `npm run proofs`, which takes longer. */
export type Tier = 'test' | 'proofs'

export interface TestFile {
  /** Its name. */
  readonly workspace: string
  /** Of the workspace. */
  readonly directory: string
  /** In the workspace. */
  readonly path: string
  /** From the root of the repository. */
  readonly place: string
  readonly tier: Tier
  /** It does little but wait, so that it may run beside those that keep the processor busy. */
  readonly waits: boolean
  /** It works in the system that several share. */
  readonly sharesSystem: boolean
  /** It changes nothing that a process has once, such as its signals, its exit status, its telemetry. */
  readonly mayShareProcess: boolean
}

/** What the text of a test file says about it, most of it in the comments that it begins with. */
export function readSource(text: string): Pick<TestFile, 'tier' | 'waits' | 'sharesSystem' | 'mayShareProcess'> {
  const [head = ''] = /^(\/\/.*\n)*/.exec(text) ?? []
  return {
    tier: /^\/\/ proof: \S/m.test(head) ? 'proofs' : 'test',
    waits: /^\/\/ waits: \S/m.test(head),
    sharesSystem: /^(?:const .* = )?await sharedSystem\(/m.test(text),
    mayShareProcess: !/^\/\/ In a process of its own: \S/m.test(head),
  }
}

/** Of all workspaces, those of both tiers. */
export function listTestFiles(): readonly TestFile[] {
  return globSync(['{packages,services,local}/*/package.json', 'test/package.json'], { cwd: root })
    .sort()
    .flatMap((manifest) => {
      const { name: workspace } = JSON.parse(readFileSync(join(root, manifest), 'utf8')) as { name: string }
      const folder = dirname(manifest)
      const directory = join(root, folder)
      const paths = globSync(folder === 'test' ? '*/**/*.test.ts' : 'test/**/*.test.ts', { cwd: directory }).sort()
      return paths.map((path) => {
        const source = readFileSync(join(directory, path), 'utf8')
        return { workspace, directory, path, place: `${folder}/${path}`, ...readSource(source) }
      })
    })
}

/**
 * What `npm test -- wallet e2e` means: the name of a folder in test/ is the tests in it, every other name is part of a
 * workspace's name, or the path of a file.
 */
export function named(files: readonly TestFile[], names: readonly string[]): readonly TestFile[] {
  if (names.length === 0) return files
  const isFolder = (name: string) => files.some(({ place }) => place.startsWith(`test/${name}/`))
  return files.filter(({ workspace, place }) =>
    names.some(
      (name) => (isFolder(name) ? place.startsWith(`test/${name}/`) : workspace.includes(name)) || name === place,
    ),
  )
}

export type Group = readonly [TestFile, ...TestFile[]]

/**
 * So many processes at most have the files that may share one: few, because to load the services costs more than what most
 * files do with them, and enough that the last of them do not keep one core busy alone. A long proof has one for itself.
 */
const sharedProcessesMax: Readonly<Record<Tier, number>> = { test: 6, proofs: 24 }
/** For less another process is not worth its start. */
const processSecondsMin = 30

/** One of several machines. */
export interface Shard {
  /** From 1. */
  readonly number: number
  readonly count: number
}

/** How many seconds a file takes, as far as anybody knows. */
export type SecondsOf = (file: TestFile) => number

export const sum = (files: readonly TestFile[], secondsOf: SecondsOf) =>
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
  const most = Math.max(processSecondsMin, sum(shared, secondsOf) / sharedProcessesMax[files[0]?.tier ?? 'test'])
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

const recordFile = join(root, 'test/suite/seconds.json')
/** Of files that take less nothing is written. */
const listedFrom = 2
/** Files of which nothing is written take about as long. A new proof may take minutes, and should not begin last. */
const unlisted: Readonly<Record<Tier, number>> = { test: 1, proofs: 60 }

/** What `--record` wrote last, by the place of a file: order, groups and shards follow from it. */
const recorded: Readonly<Record<string, number>> = existsSync(recordFile)
  ? JSON.parse(readFileSync(recordFile, 'utf8'))
  : {}

export const secondsOf: SecondsOf = ({ place, tier }) => recorded[place] ?? unlisted[tier]

/** Makes this run the record for the files that ran. */
export function record(finished: readonly (TestFile & { readonly seconds: number })[], all: readonly TestFile[]): void {
  const took = Object.fromEntries(finished.map(({ place, seconds }) => [place, seconds]))
  const lines = all
    .map(({ place }) => [place, Math.round(took[place] ?? recorded[place] ?? 0)] as const)
    .filter(([, seconds]) => seconds >= listedFrom)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(recordFile, `${JSON.stringify(Object.fromEntries(lines), undefined, 2)}\n`)
}
