import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ServiceName } from '@backoffice/contracts'
import { type Teardown, temporaryFolder } from '@backoffice/test-kit'
import { linkDependencies } from '../structure/working-copy.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))

interface ReleaseRecord {
  /** It begins at a commit whose services ask JetStream for no stream: nobody runs an older one, and each from then on is held to it. */
  readonly release: {
    readonly version: string
    /** Of this repository. It counts where no `v…` tag below HEAD says which commit it is. */
    readonly commit: string
    /** What the release's own migrations are, by service. */
    readonly migrations: Readonly<Record<ServiceName, readonly string[]>>
  }
  /** Migrations that narrow, as `service/name`, with the reason why that release does not use what they take away. */
  readonly contractions: Readonly<Record<string, string>>
  /** Migrations that hold up who uses a table, as `service/name`, with the reason why it is for a moment only. */
  readonly locks: Readonly<Record<string, string>>
}

/** The release that is in service while this one is rolled out. Written anew with each release. */
export const { release, contractions, locks }: ReleaseRecord = JSON.parse(
  readFileSync(new URL('./previous-release.json', import.meta.url), 'utf8'),
)

function git(...args: string[]): string {
  return execFileSync('git', ['-C', root, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
}

function quietly(...args: string[]): string | null {
  try {
    return git(...args)
  } catch {
    return null
  }
}

/** The latest release tag below HEAD, else the recorded commit; null where the history is not here to take it from. */
function previousRevision(): string | null {
  // An exported tree may lie inside somebody else's repository: its history is not ours.
  if (quietly('rev-parse', '--show-prefix') !== '') return null
  const revision = quietly('describe', '--tags', '--match', 'v[0-9]*', '--abbrev=0', 'HEAD^') ?? release.commit
  return quietly('cat-file', '-e', `${revision}^{commit}`) === null ? null : revision
}

/** Why its source cannot be had, or false: a shallow clone, an export or a rewritten history does not have it. */
export function historyIsMissing(): string | false {
  return previousRevision() === null ? `the source of release ${release.version} is not in this clone` : false
}

/**
 * The release's source in a folder of its own, which ends with `t`: its own packages, and the installed dependencies of
 * this checkout.
 * @returns the folder, with a slash at its end
 */
export function extractPreviousRelease(t: Teardown): string {
  const revision = previousRevision()
  if (revision === null) throw new Error('there is no previous release to extract')
  const dir = temporaryFolder(t)
  const archive = execFileSync('git', ['-C', root, 'archive', revision, 'package.json', 'packages', 'services'], {
    maxBuffer: 256 * 1024 * 1024,
  })
  execFileSync('tar', ['-x', '-C', dir], { input: archive })
  const workspaces = globSync('{packages,services}/*/package.json', { cwd: dir }).map((path) => dirname(path))
  linkDependencies(dir, workspaces)
  return `${dir}/`
}
