import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type SourceFile, sourceFiles } from '../structure/source-files.ts'
import { root, type SecondsOf, type TestFile } from './files.ts'

const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()

const lines = (text: string) => text.split('\n').filter((line) => line !== '')

const lockFile = 'package-lock.json'

export interface Changes {
  /** By their paths. */
  readonly files: readonly string[]
  /** Packages of others. */
  readonly dependencies: readonly string[]
}

/**
 * What differs from a commit, in the working tree too.
 * @param since without it, where this branch has left the main one
 */
export function changesSince(since: string | undefined): Changes {
  const [base = 'HEAD'] = since === undefined ? ['origin/main', 'main'].filter(isCommit) : [since]
  const from = git('merge-base', base, 'HEAD')
  const known = lines(git('diff', '--name-only', '--no-renames', from))
  const files = [...known, ...lines(git('ls-files', '--others', '--exclude-standard'))]
  if (!files.includes(lockFile)) return { files, dependencies: [] }
  const now = readFileSync(join(root, lockFile), 'utf8')
  return { files, dependencies: differences(git('show', `${from}:${lockFile}`), now) }
}

/** The names of packages of others that are not the same in two lock files. */
export function differences(before: string, now: string): readonly string[] {
  const [old, young] = [before, now].map((text) => JSON.parse(text).packages as Record<string, unknown>)
  const places = Object.keys({ ...old, ...young }).filter((place) =>
    /(^|\/)node_modules\/(?!@backoffice\/)/.test(place),
  )
  return places
    .filter((place) => JSON.stringify(old?.[place]) !== JSON.stringify(young?.[place]))
    .map((place) => place.replace(/^.*node_modules\//, ''))
}

function isCommit(name: string): boolean {
  try {
    execFileSync('git', ['rev-parse', '--verify', '--quiet', `${name}^{commit}`], { cwd: root, stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

/** `services/wallet`, `test`; of the root and of `docs` there is none. */
const workspaceOf = (path: string) => /^((packages|services|local)\/[^/]+|test)\//.exec(path)?.[1]

/** `pg` of `pg/lib`. */
const packageOf = (name: string) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name

const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')

/** Sources whose code has the name of a file, or of a folder that it is in. */
function sourcesThatName(path: string, sources: readonly SourceFile[]): readonly string[] {
  const home = workspaceOf(path)
  const folders = path.split('/').map((_, depth, parts) => parts.slice(0, depth + 1).join('/'))
  const names = folders.filter((folder) => folder.includes('/') && folder !== home && folder !== `${home}/src`)
  // Every folder has one of these.
  const file = basename(path)
  if (!['README.md', 'package.json', 'tsconfig.json', '.taprc', 'index.ts'].includes(file)) names.push(file)
  const namesIt = ({ text }: SourceFile) => names.some((name) => text.includes(name))
  return sources
    .filter((source) => namesIt(source) && namesIt({ ...source, text: withoutComments(source.text) }))
    .map((source) => source.path)
}

/** One of each list in turn. */
const inTurn = <T>(lists: readonly (readonly T[])[]): readonly T[] =>
  Array.from({ length: Math.max(0, ...lists.map(({ length }) => length)) }, (_, turn) =>
    lists.flatMap((list) => list.slice(turn, turn + 1)),
  ).flat()

/** With all else that is a minute of processor. */
const secondsMost = 60

/**
 * Tests of what has changed, those first that have changed themselves, then the nearest of each change in turn. Of a
 * source file, and of each that imports another version of a dependency: those of its workspace that reach it by imports,
 * those of its own noun if there are any; and where there are none, those of any workspace. Of another file: those that
 * name it or its folder, or reach what does. A test in `test/structure` reads all files, and one that waits is chosen when
 * it was changed itself. What other workspaces make of a change is for a whole run to say.
 * @param tests of which to choose
 * @param secondsOf how long each takes: of all that has not changed itself, the first that are soon done
 */
export function testsOf({ files, dependencies }: Changes, tests: readonly TestFile[], secondsOf: SecondsOf) {
  const sources = sourceFiles()
  const known = new Set(sources.map(({ path }) => path))
  const imports = new Imports(sources)
  const byPlace = new Map(tests.map((test) => [test.place, test]))
  const among = (paths: Iterable<string>) => [...paths].flatMap((path) => byPlace.get(path) ?? [])
  const closest = (path: string): readonly TestFile[] => {
    const home = workspaceOf(path)
    const near = among(imports.reaching(path, (other) => workspaceOf(other) === home))
    const [, folder] = /\/src\/([^/]+)\//.exec(path) ?? []
    const beside = near.filter(({ place }) => folder !== undefined && place.startsWith(`${home}/test/${folder}/`))
    if (beside.length > 0) return beside
    return near.length > 0 ? near : among(imports.reaching(path, () => true))
  }
  const importing = sources.filter(({ imports }) => imports.some((name) => dependencies.includes(packageOf(name))))
  const changed = [...files, ...importing.map(({ path }) => path)]
  const lists = changed.map((path) => {
    if (!known.has(path)) return inTurn(sourcesThatName(path, sources).map(closest))
    const reaching = closest(path)
    if (reaching.length > 0) return reaching
    // A program is started by its name.
    const neighbours = sources.filter((other) => workspaceOf(other.path) === workspaceOf(path))
    return inTurn(sourcesThatName(path, neighbours).map(closest))
  })
  const readsAll = tests.filter(({ place }) => changed.length > 0 && place.startsWith('test/structure/'))
  let seconds = 0
  return [...new Set([...among(files), ...readsAll, ...inTurn(lists)])].filter((test) => {
    const mayRun = files.includes(test.place) || (!test.waits && seconds + secondsOf(test) <= secondsMost)
    if (mayRun) seconds += secondsOf(test)
    return mayRun
  })
}

/** Where `@backoffice/wallet/migrations` is, by the package's exports. */
function faces(): ReadonlyMap<string, string> {
  const manifests = globSync('{packages,services,local}/*/package.json', { cwd: root })
  return new Map(
    manifests.flatMap((manifest) => {
      const { name, exports } = JSON.parse(readFileSync(join(root, manifest), 'utf8')) as {
        readonly name: string
        readonly exports?: Readonly<Record<string, string>>
      }
      return Object.entries(exports ?? {}).map(([face, file]): [string, string] => [
        join(name, face),
        join(dirname(manifest), file),
      ])
    }),
  )
}

/** Which file imports which other, the faces of packages by their files. */
class Imports {
  readonly #importers: ReadonlyMap<string, readonly SourceFile[]>

  constructor(sources: readonly SourceFile[]) {
    const places = faces()
    const pairs = sources.flatMap((source) =>
      source.imports.map((name) => ({ source, name: places.get(name) ?? name })),
    )
    const importers = Map.groupBy(pairs, ({ name }) => name)
    this.#importers = new Map([...importers].map(([name, pairs]) => [name, pairs.map(({ source }) => source)]))
  }

  /**
   * A file and all that reach it by imports, the nearest first.
   * @param isIn of which files to take account
   */
  reaching(path: string, isIn: (path: string) => boolean): ReadonlySet<string> {
    const reached = new Set([path])
    for (const next of reached)
      for (const importer of this.#importers.get(next) ?? []) if (isIn(importer.path)) reached.add(importer.path)
    return reached
  }
}
