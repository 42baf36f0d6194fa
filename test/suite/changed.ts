import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type SourceFile, sourceFiles } from '../structure/source-files.ts'
import { root, type TestFile } from './files.ts'

const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: root, encoding: 'utf8' }).trim()

const lines = (text: string) => text.split('\n').filter((line) => line !== '')

/**
 * Files that differ from a commit, in the working tree too.
 * @param since without it, where this branch has left the main one
 */
export function changedFiles(since: string | undefined): readonly string[] {
  const [base = 'HEAD'] = since === undefined ? ['origin/main', 'main'].filter(isCommit) : [since]
  const from = git('merge-base', base, 'HEAD')
  return [
    ...lines(git('diff', '--name-only', '--no-renames', from)),
    ...lines(git('ls-files', '--others', '--exclude-standard')),
  ]
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
const workspaceOf = (path: string) => /^((packages|services)\/[^/]+|test|bench)\//.exec(path)?.[1]

/** Where `@backoffice/wallet/migrations` is, by the package's exports. */
function faces(): ReadonlyMap<string, string> {
  const manifests = globSync('{packages,services}/*/package.json', { cwd: root })
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

/** Who imports what, by their paths. */
class Imports {
  readonly #importers = new Map<string, string[]>()

  constructor(sources: readonly SourceFile[]) {
    const places = faces()
    for (const { path, imports } of sources)
      for (const name of imports) {
        const imported = places.get(name) ?? name
        this.#importers.set(imported, [...(this.#importers.get(imported) ?? []), path])
      }
  }

  /** A file and all that reach it by imports. */
  reaching(path: string, within: string | undefined): ReadonlySet<string> {
    const reached = new Set([path])
    for (const next of reached)
      for (const importer of this.#importers.get(next) ?? [])
        if (within === undefined || workspaceOf(importer) === within) reached.add(importer)
    return reached
  }
}

const withoutComments = (text: string) => text.replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')

/** Sources whose code has the name of a file, or of a folder that it is in. */
function sourcesThatName(path: string, sources: readonly SourceFile[]): readonly string[] {
  const folders = path.split('/').map((_, depth, parts) => parts.slice(0, depth + 1).join('/'))
  const names = folders.filter((folder) => folder.includes('/'))
  // Every folder has one of these.
  const file = basename(path)
  if (!['README.md', 'package.json', 'tsconfig.json', '.taprc', 'index.ts'].includes(file)) names.push(file)
  const namesIt = ({ text }: SourceFile) => names.some((name) => text.includes(name))
  return sources
    .filter((source) => namesIt(source) && namesIt({ ...source, text: withoutComments(source.text) }))
    .map((source) => source.path)
}

/** What a change of these does is seen everywhere. */
const everywhere = /^(package-lock\.json|\.taprc)$/

/**
 * Tests of what has changed. Of a source file: those of its workspace that reach it by imports, and where there are none,
 * those of any. Of another file: those that name it or its folder, or reach what does. A test in `test/structure` reads
 * all files. What other workspaces make of a change is for a whole run to say.
 * @param tests of which to choose
 */
export function testsOf(changed: readonly string[], tests: readonly TestFile[]): readonly TestFile[] {
  if (changed.some((path) => everywhere.test(path))) return tests
  const sources = sourceFiles()
  const known = new Set(sources.map(({ path }) => path))
  const imports = new Imports(sources)
  const among = (paths: ReadonlySet<string>) => tests.filter(({ place }) => paths.has(place))
  const closest = (path: string): readonly TestFile[] => {
    const near = among(imports.reaching(path, workspaceOf(path)))
    return near.length > 0 ? near : among(imports.reaching(path, undefined))
  }
  const ofWorkspace = (path: string) => tests.filter(({ place }) => place.startsWith(`${workspaceOf(path)}/`))
  const chosen = changed.flatMap((path) => {
    if (known.has(path)) return closest(path)
    if (basename(path) === 'package.json') return ofWorkspace(path)
    return sourcesThatName(path, sources).flatMap(closest)
  })
  const readsAll = tests.filter(({ place }) => changed.length > 0 && place.startsWith('test/structure/'))
  const places = new Set([...chosen, ...readsAll].map(({ place }) => place))
  return tests.filter(({ place }) => places.has(place))
}
