import { execFileSync } from 'node:child_process'
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, parseAllDocuments } from 'yaml'

export const deployFolder = fileURLToPath(new URL('../../deploy', import.meta.url))
export const overlays = ['local', 'small', 'standard', 'production'] as const
/** They have a PostgreSQL of CloudNativePG, certificates and monitors. */
export const withOperators: readonly Overlay[] = ['standard', 'production']
export type Overlay = (typeof overlays)[number]
/** With `restore/`: while its PostgreSQL goes back to an earlier moment. */
export type Rendered = Overlay | `restore/${Overlay}`

// biome-ignore lint/suspicious/noExplicitAny: what a manifest says is what the tests are about; the schemas type it
export type Manifest = any

/** kubectl with kustomize inside that knows all fields used here, or kustomize itself; null when the machine has neither. */
export function kustomizeCommand(): readonly string[] | null {
  try {
    const version = JSON.parse(output('kubectl', ['version', '--client', '--output=json'])).clientVersion
    if (Number.parseInt(version.minor, 10) >= 27) return ['kubectl', 'kustomize']
  } catch {}
  try {
    if (/v?[5-9]\.\d+/.test(output('kustomize', ['version']))) return ['kustomize', 'build']
  } catch {}
  return null
}

const output = (command: string, args: readonly string[]) =>
  execFileSync(command, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

/** A copy of deploy/ in which everything is there that the repository must not hold. */
export function copyOfDeploy(dir: string): string {
  cpSync(deployFolder, dir, {
    recursive: true,
    filter: (path) => !/\/(\.env|secret-files\/secrets|database-ca\.crt)$/.test(path),
  })
  const folder = join(dir, 'k8s/components/secret-files')
  const example = readFileSync(join(folder, '.env.example'), 'utf8')
  writeFileSync(
    join(folder, '.env'),
    example.replace(/^(\w+)=$/gm, (_, key: string) => `${key}=${secretValue(key)}`),
  )
  execFileSync('sh', [join(dir, 'k8s/make-secrets.sh'), join(folder, '.env'), join(folder, 'secrets')])
  writeFileSync(join(dir, 'k8s/overlays/small/database-ca.crt'), 'the certificates of the provider')
  return dir
}

/** What stands in for a value that only the store of secrets knows, and in its place the file of components/secret-files. */
export function secretValue(key: string): string {
  const bytes = Buffer.alloc(32, key).toString('base64')
  if (key.startsWith('MASTER_KEYS')) return `first:${bytes}`
  return key === 'CONSOLE_SESSION_KEYS' ? bytes : `of-the-test-${key}`
}

export function documentsIn(text: string): readonly Manifest[] {
  return parseAllDocuments(text, { merge: true }).map((document) => {
    const [fault] = document.errors
    if (fault !== undefined) throw fault
    return document.toJS()
  })
}

/** As kubectl reads a selector: `key=value`, `key in (…)`, `key notin (…)`. */
export function isMeant({ metadata }: Manifest, selector: string): boolean {
  const [, key = '', operator, list = ''] = /^(\S+?)(?: (in|notin) \(|=)(.*?)\)?$/.exec(selector) ?? []
  const values = list.split(', ')
  const value = metadata.labels?.[key]
  return operator === 'notin' ? !values.includes(value) : values.includes(value)
}

/** The resources of deploy/ as they are written, before anything is merged into them, by file. */
export function resourceFiles(): ReadonlyMap<string, readonly Manifest[]> {
  const files = new Map<string, readonly Manifest[]>()
  for (const path of globSync('k8s/**/kustomization.yaml', { cwd: deployFolder })) {
    const { resources = [] } = parse(readFileSync(join(deployFolder, path), 'utf8'))
    for (const resource of resources as readonly string[]) {
      if (!resource.endsWith('.yaml')) continue
      const file = join(path, '..', resource)
      files.set(file, documentsIn(readFileSync(join(deployFolder, file), 'utf8')))
    }
  }
  // What is applied by hand.
  for (const file of [
    'argocd/application.yaml',
    'k8s/components/ingress-nginx/controller.yaml',
    'k8s/prerequisites/gateway-class.yaml',
    'k8s/prerequisites/issuer.yaml',
    'k8s/prerequisites/secret-stores.yaml',
  ])
    files.set(file, documentsIn(readFileSync(join(deployFolder, file), 'utf8')))
  return files
}
