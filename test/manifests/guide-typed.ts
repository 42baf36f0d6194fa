import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { ApiObjects } from './api-objects.ts'
import { ApiServer, type Heard, masters } from './api-server.ts'
import type { Asked } from './authority.ts'
import { functions, type GuideCommand, type GuideRole, type GuideSection, inSize } from './guide.ts'
import type { Manifest, Overlay } from './kustomize.ts'
import { deployCopy, rendered, withSettings } from './rendered.ts'

/** What became of a command that was typed. */
export interface TypedCommand extends GuideCommand {
  readonly printed: string
  readonly status: number
  /** What the API server refused, or a plugin would have been refused. */
  readonly refused: readonly string[]
  /** Plugins of kubectl and other programs that asked for nothing here, with their words. */
  readonly others: readonly string[]
}

export const people: Readonly<Record<GuideRole, { readonly user: string; readonly group: string }>> = {
  'on-call': { user: 'alice@operator.example', group: 'backoffice-on-call' },
  'break-glass': { user: 'bob@operator.example', group: 'others' },
  pipeline: { user: 'pipeline', group: masters },
  platform: { user: 'platform', group: masters },
}

/** What stands in the guide for a name that is another each time. */
const given: Readonly<Record<string, string>> = {
  NODE: 'node-1',
  POD: 'nats-0',
  CONTAINER: 'nats',
  NAME: 'gateway',
  JOB: 'migrate-1.1.0',
  IP: '10.0.0.1',
  PID: '4711',
  STORAGE: 's3.example',
  EVENT: 'evt_1',
}

/**
 * What plugins ask of the API server: https://cloudnative-pg.io/documentation/current/kubectl-plugin/#permissions, and
 * what `status` reads with --verbose alone; cmctl sets a condition.
 */
const clusters = ['postgresql.cnpg.io', 'clusters'] as const
const asks: Readonly<Record<string, readonly (readonly [group: string, resource: string, verbs: string])[]>> = {
  'cnpg status': [
    [...clusters, 'get'],
    ['', 'pods', 'list'],
    ['', 'pods/proxy', 'get'],
    ['policy', 'poddisruptionbudgets', 'list'],
    ['barmancloud.cnpg.io', 'objectstores', 'get'],
  ],
  'cnpg status --verbose': [['', 'pods/exec', 'create']],
  'cnpg psql': [
    ['', 'pods', 'get list'],
    ['', 'pods/exec', 'create'],
  ],
  'cnpg logs': [
    [...clusters, 'get'],
    ['', 'pods', 'list watch'],
    ['', 'pods/log', 'get'],
  ],
  'cnpg backup': [
    [...clusters, 'get'],
    ['postgresql.cnpg.io', 'backups', 'create'],
  ],
  'cnpg promote': [
    [...clusters, 'get'],
    ['postgresql.cnpg.io', 'clusters/status', 'patch'],
    ['', 'pods', 'get'],
  ],
  'cnpg restart': [
    [...clusters, 'get patch'],
    ['', 'pods', 'get delete'],
  ],
  'cnpg reload': [[...clusters, 'get patch']],
  'cnpg destroy': [
    [...clusters, 'get'],
    ['', 'pods', 'get delete'],
    ['', 'persistentvolumeclaims', 'list delete update'],
    ['batch', 'jobs', 'list delete'],
  ],
  'cmctl renew': [
    ['cert-manager.io', 'certificates', 'get list'],
    ['cert-manager.io', 'certificates/status', 'update'],
  ],
}

/** What a cluster has that the manifests do not make, but the guide looks at. */
function neighbours(): readonly Manifest[] {
  const deployments = [
    ['cert-manager', 'cert-manager'],
    ['cnpg-system', 'cnpg-controller-manager'],
    ['envoy-gateway-system', 'envoy-gateway'],
    ['external-secrets', 'external-secrets'],
    ['monitoring', 'blackbox-exporter'],
  ].map(([namespace, name]) => {
    const labels = { app: name }
    const template = { metadata: { labels }, spec: { containers: [{ name }] } }
    const spec = { replicas: 1, selector: { matchLabels: labels }, template }
    return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, namespace }, spec }
  })
  const others = [
    ...[1, 2, 3].map((number) => ['v1', 'Node', `node-${number}`, undefined]),
    ['external-secrets.io/v1', 'ClusterSecretStore', 'backoffice', undefined],
    ['postgresql.cnpg.io/v1', 'Backup', 'postgres-every-night-1', 'backoffice'],
    ['postgresql.cnpg.io/v1', 'FailoverQuorum', 'postgres', 'backoffice'],
    ['acme.cert-manager.io/v1', 'Order', 'api-1', 'backoffice'],
    ['acme.cert-manager.io/v1', 'Challenge', 'api-1-1', 'backoffice'],
    ['v1', 'Secret', 'postgres-ca', 'backoffice'],
    ['v1', 'Secret', 'postgres-replication', 'backoffice'],
    ['v1', 'Secret', 'backoffice-authority', 'cert-manager'],
  ].map(([apiVersion, kind, name, namespace]) => ({ apiVersion, kind, metadata: { name, namespace }, spec: {} }))
  const metadata = { name: 'backoffice-authority', namespace: 'backoffice' }
  const authorities = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'ca.crt': 'BEGIN\nBEGIN\n' } }
  return [...deployments, ...others, authorities]
}

/** What is typed and written of a section. */
type Procedure = Pick<GuideSection, 'commands' | 'settings' | 'edits'>

/** Writes what a section says into the copy of deploy/, and notes what was there. */
function write(size: Overlay, { settings, edits }: Procedure, before: Map<string, string>): void {
  const lines = settings.map(({ file, name, value }) => ({ file, change: withSettings({ [name]: value }) }))
  for (const { file, change } of [...lines, ...edits]) {
    const path = join(deployCopy(), 'k8s', inSize(file, size))
    const text = readFileSync(path, 'utf8')
    if (!before.has(path)) before.set(path, text)
    writeFileSync(path, change(text))
  }
}

/** A terminal of each person, with the real kubectl before a cluster that is made of these manifests. */
export class Terminals {
  readonly server: ApiServer
  readonly #folder: string
  readonly #manifests: readonly Manifest[]
  readonly #size: Overlay

  private constructor(folder: string, server: ApiServer, manifests: readonly Manifest[], size: Overlay) {
    this.server = server
    this.#folder = folder
    this.#manifests = manifests
    this.#size = size
  }

  static async open(folder: string, size: Overlay): Promise<Terminals> {
    const all = [...rendered(size).manifests, ...neighbours()]
    const terminals = new Terminals(folder, await ApiServer.start(all), all, size)
    mkdirSync(join(folder, 'bin'))
    symlinkSync(join(deployCopy()), join(folder, 'deploy'))
    for (const name of ['kubectl-cnpg', 'kubectl-krew', 'cmctl', 'npm', 'npx', 'curl', 'dig', 'openssl', 'nats']) {
      const path = join(folder, 'bin', name)
      // One line, whatever is in the words.
      writeFileSync(path, `#!/bin/sh\necho "typed: $(basename "$0") $*" | tr '\\n' ' '\necho\n`)
      chmodSync(path, 0o755)
    }
    for (const role of Object.keys(people) as GuideRole[]) terminals.#sitDown(role)
    return terminals
  }

  async close(): Promise<void> {
    await this.server.stop()
  }

  /**
   * Types the commands of a section in their order, each as the person whose role it names, in a cluster where somebody
   * was let in as deploy/k8s/README.md says. What the section tells to write is written before it is applied.
   */
  async type(procedure: Procedure): Promise<readonly TypedCommand[]> {
    const { commands } = procedure
    this.server.objects = new ApiObjects(this.#manifests)
    if (commands.some(({ role }) => role === 'break-glass')) await this.letIn()
    const typed: TypedCommand[] = []
    let variables = `${functions.join('\n')}\n`
    const before = new Map<string, string>()
    try {
      for (const command of commands) {
        if (/^PG=/.test(command.text)) variables += `${command.text}\n`
        if (command.role === 'pipeline' && before.size === 0) write(this.#size, procedure, before)
        typed.push(await this.#run(command, variables))
      }
    } finally {
      for (const [path, text] of before) writeFileSync(path, text)
    }
    return typed
  }

  #sitDown(role: GuideRole): void {
    const { user, group } = people[role]
    const named = (name: string, what: Manifest) => [{ name, ...what }]
    const config = {
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'it',
      clusters: named('it', { cluster: { server: this.server.url } }),
      users: named('it', { user: { as: user, 'as-groups': [group] } }),
      contexts: named('it', { context: { cluster: 'it', user: 'it', namespace: 'backoffice' } }),
    }
    writeFileSync(join(this.#folder, role), JSON.stringify(config))
  }

  async letIn(): Promise<void> {
    const { user } = people['break-glass']
    const { status, printed } = await this.shell('on-call', `sh deploy/k8s/break-glass.sh incident-42 ${user}`)
    if (status !== 0) throw new Error(printed)
  }

  async #run(command: GuideCommand, variables: string): Promise<TypedCommand> {
    const { heard } = this.server
    const before = heard.length
    const { status, printed } = await this.shell(command.role, `${variables}${command.text}`)
    const others = [...printed.matchAll(/typed: (.*?) *$/gm)].map(([, words = '']) => words)
    const refused = [
      ...heard.slice(before).flatMap((each: Heard) => each.refused ?? []),
      ...others.flatMap((words) => this.#refusedOf(words, command.role)),
    ]
    return { ...command, printed, status, refused, others }
  }

  /** What a plugin with these words would not be given. */
  #refusedOf(words: string, role: GuideRole): readonly string[] {
    const name = words.replace('kubectl-', '')
    if (!/^(cnpg|cmctl) /.test(name)) return []
    const [plugin, verb] = name.split(' ')
    const namespace = / -n (\S+)/.exec(name)?.[1] ?? 'backoffice'
    const rights = asks[`${plugin} ${verb}`]
    if (rights === undefined) return [`nobody knows what ${name} asks for`]
    const all = [...rights, ...(name.includes('--verbose') ? (asks['cnpg status --verbose'] ?? []) : [])]
    return all
      .flatMap(([group, resource, verbs]) => verbs.split(' ').map((each) => ({ group, resource, verb: each })))
      .map((right): Asked => ({ ...right, namespace, name: 'any' }))
      .filter((asked) => !this.server.permits([people[role].user, people[role].group], asked))
      .map((asked) => `${name}: ${role} cannot ${asked.verb} ${asked.resource}.${asked.group} in ${namespace}`)
  }

  async shell(role: GuideRole, line: string): Promise<{ readonly status: number; readonly printed: string }> {
    const shell = spawn('timeout', [String(60 * Number(process.env.PATIENCE ?? 1)), 'sh', '-c', `exec 2>&1\n${line}`], {
      cwd: this.#folder,
      env: {
        PATH: `${join(this.#folder, 'bin')}:${process.env.PATH}`,
        HOME: this.#folder,
        KUBECONFIG: join(this.#folder, role),
        PG: 'postgres',
        SIZE: this.#size,
        POLL_SECONDS: '0.1',
        OPERATOR_SECONDS: '0',
        // As it is in the repository, no digest is known.
        SKIP_DIGESTS: 'true',
        ...given,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const ended = new Promise<number>((resolve) => shell.once('close', (status) => resolve(status ?? 1)))
    const printed = await text(shell.stdout)
    return { status: await ended, printed }
  }
}
