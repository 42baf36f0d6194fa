import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The workspaces whose dependencies the images hold. */
const shippedWorkspaces: readonly string[] = [
  'services/migrator',
  'services/team-cli',
  'services/gateway',
  'services/players',
  'services/wallet',
  'services/payments',
  'services/webhooks',
  'services/reconciler',
  'services/games',
  'services/console',
]

export const workspaceOptions = shippedWorkspaces.flatMap((workspace) => ['--workspace', workspace])

export interface Component {
  readonly 'bom-ref': string
  readonly name: string
  readonly version: string
  readonly purl: string
  readonly hashes?: readonly unknown[]
}

export interface BillOfMaterials {
  readonly bomFormat: string
  readonly metadata: { readonly component: { name: string } }
  components: readonly Component[]
  dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[]
}

/**
 * What the images hold of other people's packages and of ours, from the lock file alone, as npm writes it (CycloneDX).
 * npm's own `--omit dev` leaves out a package that any workspace also uses for tests, and keeps the dependencies of our
 * test packages. So npm writes down everything, and this keeps what the shipped workspaces reach.
 */
export function billOfMaterials(root: string): BillOfMaterials {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only']
  const { stdout, stderr } = spawnSync('npm', args, { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (stdout === '') throw new Error(`npm wrote no bill of materials: ${stderr}`)
  const bill = JSON.parse(stdout) as BillOfMaterials
  const { packages, name } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock
  const shipped = reachable(packages)
  bill.components = bill.components.filter((component) => shipped.has(component['bom-ref']))
  const kept = new Set(bill.components.map((component) => component['bom-ref']))
  const missing = [...shipped].filter((each) => !kept.has(each))
  if (missing.length > 0) throw new Error(`npm does not list: ${missing.join(', ')}`)
  bill.dependencies = bill.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => kept.has(other)) }))
  // npm calls it after the folder.
  bill.metadata.component.name = name
  return bill
}

interface Locked {
  readonly name?: string
  readonly version?: string
  readonly resolved?: string
  readonly link?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}
interface Lock {
  readonly name: string
  readonly packages: Readonly<Record<string, Locked>>
}

/** `name@version` of everything that the shipped workspaces need to run. */
function reachable(packages: Lock['packages']): ReadonlySet<string> {
  const paths = new Set<string>()
  const visit = (path: string) => {
    const { link, resolved = '', dependencies, optionalDependencies } = packages[path] ?? {}
    if (link) return visit(resolved)
    if (paths.has(path)) return
    paths.add(path)
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const found = lookedUp(packages, path, name)
      if (found !== undefined) visit(found)
      else if (!(name in (optionalDependencies ?? {}))) throw new Error(`${path} needs ${name}, which is not locked`)
    }
  }
  for (const workspace of shippedWorkspaces) visit(workspace)
  const names = [...paths].map((path) => {
    const { name = path.replace(/^.*node_modules\//, ''), version } = packages[path] ?? {}
    return `${name}@${version}`
  })
  return new Set(names)
}

/** As Node does: beside the package, then upwards. */
function lookedUp(packages: Lock['packages'], path: string, name: string): string | undefined {
  const parts = path.split('/')
  for (let length = parts.length; length >= 0; length -= 1) {
    const candidate = [...parts.slice(0, length), 'node_modules', name].join('/')
    if (candidate in packages) return candidate
  }
  return undefined
}
