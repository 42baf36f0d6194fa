import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Asked } from './authority.ts'

/** Who types a command. `pipeline` is what applies the manifests, `platform` whoever looks after the cluster itself. */
export const roles = ['on-call', 'break-glass', 'pipeline', 'platform'] as const
export type GuideRole = (typeof roles)[number]

/** A line that a person can type. */
export interface GuideCommand {
  /** The guide and the heading. */
  readonly where: string
  readonly role: GuideRole
  readonly text: string
  /** What it prints, as the guide says behind `# →`; `…` stands for anything. */
  readonly shows: string | undefined
}

export interface GuideSection {
  readonly where: string
  readonly text: string
  readonly commands: readonly GuideCommand[]
}

const guides = [
  'operations.md',
  'alerts.md',
  'incidents.md',
  'runbooks/restore.md',
  'runbooks/lost-parts.md',
  'runbooks/night.md',
  'platform-upgrades.md',
]

/** What begins a command, as opposed to a name, a path, a message or a part of one. */
const program =
  /^(?:kubectl|cmctl|nats (?:stream|consumer|server)|npm (?:run|test)|npx|sh|curl|jq|openssl|dig|restart|for|(?:[A-Z]+=\$\()|ops (?:stream|consumer)|system server|select|delete from|alter role) ?\S/

const isRole = (word: string): word is GuideRole => (roles as readonly string[]).includes(word)

export const sections: readonly GuideSection[] = guides.flatMap((guide) =>
  readFileSync(new URL(`../../docs/${guide}`, import.meta.url), 'utf8')
    .split(/^(?=##+ )/m)
    .map((text) => {
      const where = `${guide}, ${text.split('\n', 1)[0]}`
      return { where, text, commands: commandsIn(text, where) }
    }),
)

/**
 * The commands of a section in their order. A role that is named, in words before a command of the same line or in a
 * block above it, holds to the end of that line or block; where none is, it is `on-call`.
 */
function commandsIn(section: string, where: string): readonly GuideCommand[] {
  const commands: GuideCommand[] = []
  let role: GuideRole = 'on-call'
  let isBlock = false
  for (const line of section
    .replaceAll(/\\\n */g, '')
    .split('\n')
    .map((each) => each.trim())) {
    if (line.startsWith('```')) {
      isBlock = line === '```sh'
      role = 'on-call'
    } else if (isBlock) {
      const [text = '', shows] = line.split(/(?:^| +)# (?:→ )?/)
      if (text !== '') commands.push({ where, role, text, shows: line.includes('# →') ? shows : undefined })
      else if (shows !== undefined && isRole(shows)) role = shows
    } else {
      role = 'on-call'
      for (const [, span = ''] of line.matchAll(/`([^`]+)`/g)) {
        const text = span.replaceAll('\\|', '|')
        if (isRole(text)) role = text
        else if (program.test(text)) commands.push({ where, role, text, shows: undefined })
      }
    }
  }
  return commands
}

/** Functions of the shell that the guide defines once and uses everywhere. */
const functions = sections
  .flatMap(({ commands }) => commands)
  .filter(({ text }) => /^\w+\(\) \{/.test(text))
  .map(({ text }) => text)

/** A call of kubectl or of cmctl, with the words that a shell makes of a line of the guide. */
export interface Call {
  readonly command: GuideCommand
  readonly program: string
  readonly words: readonly string[]
}

/** What stands for a name that is another each time: a name of the guide is checked, unless it has a `$`. */
const given = Object.fromEntries(
  ['PG', 'NODE', 'POD', 'CONTAINER', 'NAME', 'JOB', 'IP', 'PID', 'STORAGE', 'EVENT'].map((name) => [name, `$${name}`]),
)

/** @param folder where the programs are made that say how they were called */
export function callsOf(folder: string, commands: readonly GuideCommand[]): readonly Call[] {
  // One write for each call, so that of two in a pipe neither comes between the words of the other.
  const telling = `#!/bin/sh
printf '%s\\036' "$(printf '%s\\037' "\${0##*/}" "$@")" >&3
case "$*" in *'-o name') echo 'pod/$POD' ;; esac
`
  for (const program of ['kubectl', 'cmctl']) writeFileSync(join(folder, program), telling, { mode: 0o755 })
  const asking = new RegExp(`\\b(?:kubectl|cmctl|${functions.map((text) => text.split('(')[0]).join('|')}) `)
  const isDefinition = ({ text }: GuideCommand) => functions.includes(text)
  return commands
    .filter((command) => asking.test(command.text) && !isDefinition(command))
    .flatMap((command) => {
      const line = `${functions.join('\n')}\n${command.text.replaceAll(/<(\w+)>/g, '$1')}`
      const { output } = spawnSync('sh', ['-c', line], {
        cwd: folder,
        encoding: 'utf8',
        env: { ...given, PATH: `${folder}:${process.env.PATH}` },
        stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
      })
      const told = (output[3] ?? '').split('\u001e').slice(0, -1)
      if (told.length === 0) throw new Error(`a shell makes nothing of: ${command.text}`)
      return told.map((call) => {
        const [program = '', ...words] = call.split('\u001f').slice(0, -1)
        return { command, program, words }
      })
    })
}

/** A kind of the guides: its name and its plural with the group; `!` for what has no namespace; then short names. */
const kinds = `
Pod pods
Event events
Node nodes!
Secret secrets
ConfigMap configmaps
PersistentVolumeClaim persistentvolumeclaims pvc
Deployment deployments.apps
StatefulSet statefulsets.apps
Job jobs.batch
HorizontalPodAutoscaler horizontalpodautoscalers.autoscaling hpa
RoleBinding rolebindings.rbac.authorization.k8s.io
Cluster clusters.postgresql.cnpg.io
Backup backups.postgresql.cnpg.io
ScheduledBackup scheduledbackups.postgresql.cnpg.io
FailoverQuorum failoverquorums.postgresql.cnpg.io
Certificate certificates.cert-manager.io
CertificateRequest certificaterequests.cert-manager.io
Order orders.acme.cert-manager.io
Challenge challenges.acme.cert-manager.io
ExternalSecret externalsecrets.external-secrets.io
ClusterSecretStore clustersecretstores.external-secrets.io!
EnvoyPatchPolicy envoypatchpolicies.gateway.envoyproxy.io`
  .trim()
  .split('\n')
  .map((line) => {
    const [kind = '', plural = '', ...short] = line.split(' ')
    const [, resource = '', group = ''] = /^([a-z]+)\.?([a-z0-9.-]*)/.exec(plural) ?? []
    return {
      kind,
      resource,
      group,
      hasNamespace: !plural.endsWith('!'),
      names: [kind.toLowerCase(), resource, ...short],
    }
  })

/** What a call is about. */
export interface Meant {
  readonly verb: string
  readonly namespace: string
  readonly selector: string | undefined
  readonly container: string | undefined
  readonly objects: readonly { readonly kind: string; readonly name: string }[]
}

const flags: Readonly<Record<string, string>> = {
  '-n': 'namespace',
  '-l': 'selector',
  '-c': 'container',
}
const othersWithValue = ['-o', '-p', '--type', '--field-selector']

/** Reads the words of kubectl, or of one of its plugins, up to `--`. A kind without a name means all of it. */
export function meantBy({ words }: Call): Meant {
  const options: Record<string, string> = {}
  const plain: string[] = []
  const until = words.indexOf('--')
  const own = until < 0 ? words : words.slice(0, until)
  for (let index = 0; index < own.length; index++) {
    const word = own[index] ?? ''
    const option = flags[word]
    if (option !== undefined) options[option] = own[++index] ?? ''
    else if (othersWithValue.includes(word)) index++
    else if (!word.startsWith('-')) plain.push(word)
  }
  const verb = plain.splice(0, plain[0] === 'rollout' ? 2 : 1).join(' ')
  return {
    verb,
    namespace: options.namespace ?? 'backoffice',
    selector: options.selector,
    container: options.container,
    objects: verb in asks ? objectsOf(verb, plain) : [],
  }
}

function objectsOf(verb: string, [first = '', ...rest]: readonly string[]): Meant['objects'] {
  const kindOf = (word: string) => {
    const found = kinds.find(({ names }) => names.includes(word))
    if (found === undefined) throw new Error(`no kind of the guides is called ${word}`)
    return found.kind
  }
  const [kind = '', name] = first.split('/')
  if (name !== undefined) return [{ kind: kindOf(kind), name }]
  // A selector in the place of a name leaves it empty.
  if (['logs', 'exec', 'port-forward'].includes(verb)) return [{ kind: 'Pod', name: first }]
  // What is neither an option nor a name: `annotate … force-sync=1`, `port-forward … 8222`.
  const names = ['drain', 'uncordon'].includes(verb) ? [first] : rest.filter((word) => !/[=:]/.test(word))
  const all = ['drain', 'uncordon'].includes(verb) ? ['node'] : kind.split(',')
  return all.flatMap((each) => (names.length === 0 ? [''] : names).map((name) => ({ kind: kindOf(each), name })))
}

/** What kubectl asks for, as it was seen when it was typed at a server: of an object that is named, of those that are looked for, and of what is below it. */
const asks: Readonly<Record<string, readonly [named: string, many: string, below?: string]>> = {
  get: ['get', 'list'],
  describe: ['get', 'list get'],
  delete: ['get delete', 'list get delete'],
  annotate: ['get patch', 'list patch'],
  patch: ['get patch', ''],
  wait: ['get list watch', 'list watch'],
  'rollout restart': ['get patch', 'list patch'],
  'rollout status': ['get list watch', 'list watch'],
  scale: ['get', 'list', 'scale patch'],
  logs: ['get', 'list', 'log get'],
  exec: ['get', '', 'exec get create'],
  'port-forward': ['get', '', 'portforward get create'],
  drain: ['get patch', ''],
  uncordon: ['get patch', ''],
}

/**
 * What plugins ask of the API server: https://cloudnative-pg.io/documentation/current/kubectl-plugin/#permissions, where
 * `status` takes more with --verbose; cmctl sets a condition.
 */
const ofPlugins: Readonly<Record<string, readonly string[]>> = {
  'cnpg status': [
    'get Cluster',
    'list Pod',
    'get Pod/proxy',
    'list poddisruptionbudgets.policy',
    'get objectstores.barmancloud.cnpg.io',
  ],
  'cnpg psql': ['get Pod', 'list Pod', 'create Pod/exec'],
  'cnpg logs': ['get Cluster', 'list Pod', 'watch Pod', 'get Pod/log'],
  'cnpg backup': ['get Cluster', 'create Backup'],
  'cnpg promote': ['get Cluster', 'patch Cluster/status', 'get Pod'],
  'cnpg restart': ['get Cluster', 'patch Cluster', 'get Pod', 'delete Pod'],
  'cnpg reload': ['get Cluster', 'patch Cluster'],
  'cnpg destroy': [
    ...['get Cluster', 'get Pod', 'delete Pod', 'list PersistentVolumeClaim', 'delete PersistentVolumeClaim'],
    ...['update PersistentVolumeClaim', 'list Job', 'delete Job'],
  ],
  'cmctl renew': ['get Certificate', 'list Certificate', 'update Certificate/status'],
}
/** They ask a cluster for nothing. */
const isLocal = (words: readonly string[]) => /^(?:config|kustomize|krew)\b|^cnpg$/.test(words.join(' '))

/** What the API server is asked for by a call, for each object that it is about. `apply` is the pipeline's alone. */
export function askedBy(call: Call): readonly Asked[] {
  const { verb, namespace, objects } = meantBy(call)
  const askFor = (verbs: string, kind: string, name: string, below = '') => {
    const { group, resource, hasNamespace } = kinds.find((each) => each.kind === kind) ?? resourceOf(kind)
    const place = { group, resource: below === '' ? resource : `${resource}/${below}`, name }
    return verbs
      .split(' ')
      .filter((each) => each !== '')
      .map((each): Asked => ({ ...place, namespace: hasNamespace ? namespace : '', verb: each }))
  }
  if (isLocal(call.words)) return []
  if (call.program === 'cmctl' || verb === 'cnpg') {
    const name = call.program === 'cmctl' ? `cmctl ${verb}` : call.words.slice(0, 2).join(' ')
    const rights = ofPlugins[name]
    if (rights === undefined) throw new Error(`nobody knows what ${name} asks for`)
    return rights.flatMap((right) => {
      const [, one = '', kind = '', below] = /^(\w+) ([\w.]+)(?:\/(\w+))?$/.exec(right) ?? []
      return askFor(one, kind, 'any', below)
    })
  }
  const [named, many, below] = asks[verb] ?? []
  if (named === undefined || many === undefined) throw new Error(`nobody knows what kubectl ${verb} asks for`)
  return objects.flatMap(({ kind, name }) => {
    const own = askFor(name === '' ? many : named, kind, name)
    const [part, ...verbs] = below?.split(' ') ?? []
    // The log of a Deployment is that of its pods.
    const holder = verb === 'logs' ? 'Pod' : kind
    return [
      ...own,
      ...(part === undefined ? [] : askFor(verbs.join(' '), holder, name, part)),
      ...(holder === kind ? [] : askFor('list', holder, '')),
      ...(verb === 'describe' ? askFor('list', 'Event', '') : []),
      ...(verb === 'describe' && kind === 'PersistentVolumeClaim' ? askFor('list', 'Pod', '') : []),
    ]
  })
}

function resourceOf(plural: string) {
  const [resource = '', ...group] = plural.split('.')
  if (group.length === 0) throw new Error(`no kind of the guides is called ${plural}`)
  return { resource, group: group.join('.'), hasNamespace: true }
}
