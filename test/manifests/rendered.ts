import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unlessRequired } from '@backoffice/test-kit'
import { Cluster } from './cluster.ts'
import { copyOfDeploy, documentsIn, kustomizeCommand, type Rendered } from './kustomize.ts'

const kustomize = kustomizeCommand()

/** For a test that reads what would be applied: skipped by name where nothing can build it, unless tools are required. */
export const skip = unlessRequired(kustomize === null && 'needs kubectl 1.27 or newer, or kustomize 5')

let folder: string | undefined

/** A copy of deploy/ that all tests of this process share, with the secrets that the repository must not hold. */
export function deployCopy(): string {
  if (folder !== undefined) return folder
  const made = copyOfDeploy(mkdtempSync(join(tmpdir(), 'backoffice-deploy-')))
  process.once('exit', () => rmSync(made, { recursive: true, force: true }))
  folder = made
  return made
}

/** Files below deploy/k8s, and what is written there instead. */
export type Changes = Readonly<Record<string, (text: string) => string>>

/** What was built already, by the overlay and the texts that were changed: to build it takes a second. */
const built = new Map<string, Cluster>()

/** What would be applied, if these files were changed. Nobody may change what is returned. */
export function rendered(overlay: Rendered, changes: Changes = {}): Cluster {
  const [program, ...args] = kustomize ?? []
  if (program === undefined) throw new Error('kubectl 1.27 or newer, or kustomize 5, is needed')
  const k8s = join(deployCopy(), 'k8s')
  const files = Object.entries(changes).map(([file, change]) => {
    const path = join(k8s, file)
    const before = readFileSync(path, 'utf8')
    const after = change(before)
    if (after === before) throw new Error(`${file} has nothing of what is to be changed`)
    return { path, before, after }
  })
  const key = JSON.stringify([overlay, files])
  const known = built.get(key)
  if (known !== undefined) return known
  try {
    for (const { path, after } of files) writeFileSync(path, after)
    const options = { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 } as const
    const cluster = new Cluster(documentsIn(execFileSync(program, [...args, join(k8s, 'overlays', overlay)], options)))
    built.set(key, cluster)
    return cluster
  } finally {
    for (const { path, before } of files) writeFileSync(path, before)
  }
}

/** Another value for some settings of an .env file. */
export const withSettings = (values: Readonly<Record<string, string>>) => (text: string) =>
  Object.entries(values).reduce((now, [name, value]) => {
    const line = new RegExp(`^${name}=.*$`, 'm')
    if (!line.test(now)) throw new Error(`there is no ${name}`)
    return now.replace(line, `${name}=${value}`)
  }, text)
