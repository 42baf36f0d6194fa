// proof: holds the commands of the guides against what is rolled out. Neither changes with the code of a service.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCatalogue } from '@backoffice/contracts'
import { temporaryFolder } from '@backoffice/test-kit'
import t from 'tap'
import { allows, type Rules, rulesOf, rulesOfRole } from './authority.ts'
import type { Cluster } from './cluster.ts'
import { edits, type GuideEdit, type GuideRole, inSize, placeOf, roles, sections } from './guide.ts'
import { askedBy, type Call, callsOf, meantBy, merged } from './guide-calls.ts'
import { isMeant, kustomizeCommand, type Manifest, type Rendered, withOperators } from './kustomize.ts'
import { type Changes, deployCopy, rendered, skip, withSettings } from './rendered.ts'
import { refusalsOf, refusedBetween } from './transitions.ts'

// What the guides tell people to type and to write, held against what production is made of.

const skipWithoutKubectl = skip || (kustomizeCommand()?.[0] !== 'kubectl' && 'needs kubectl')
const folder = temporaryFolder(t)
const calls = callsOf(
  folder,
  sections.flatMap(({ commands }) => commands),
)
/** Where the pages speak of the size without CloudNativePG. */
const isOfSmall = (where: string) => where.includes('`small`')
/** Where they speak of every size that has CloudNativePG. */
const ofEverySize = new Set(
  calls.filter(({ command }) => command.text.includes('$SIZE')).map(({ command }) => command.where),
)
const written = ({ command, words }: Call) => `${command.where}: ${command.role}: ${words.join(' ')}`

const lines = sections.flatMap(({ where, settings }) => settings.map((setting) => ({ where, ...setting })))

t.test('the guides and the manifests', { skip }, async (t) => {
  const production = rendered('production')

  t.test('what the guides tell to write changes what is applied, and they name no other file', async (t) => {
    t.ok(lines.length >= 6, `${lines.length} lines`)
    // Each change in a word of its own, so that all are tried at once.
    const told = [
      ...lines.map(({ where, name, value, ...line }, index) => {
        const file = inSize(line.file, 'production')
        const [port = ''] = /:\d+$/.exec(value) ?? []
        const change = withSettings({ [name]: `told-${index}${port}` })
        return { what: `${where}: ${name} in ${file}`, file, change, shown: `told-${index}` }
      }),
      ...edits.map(({ words, ...edit }) => {
        const file = inSize(edit.file, 'production')
        return { ...edit, what: `${file}: ${words}`, file }
      }),
    ]
    for (const overlay of ['production', 'restore/production', 'small'] as const) {
      const changed = told.filter(({ file }) => overlayOf(file) === overlay)
      const [before, after] = [rendered(overlay), rendered(overlay, changesOf(changed))].map(({ manifests }) =>
        JSON.stringify(manifests),
      )
      for (const { what, shown } of changed) {
        t.notOk(before?.includes(shown), what)
        t.ok(after?.includes(shown), what)
      }
    }
    for (const { words } of edits)
      t.ok(
        sections.some(({ text }) => words.test(text)),
        `some section says ${words}`,
      )
    const named = sections.flatMap(({ text }) =>
      [...text.matchAll(/`((?:overlays|base|components)\/[\w/$-]+\.(?:yaml|env))`/g)].map(([, file = '']) =>
        inSize(placeOf(file), 'production'),
      ),
    )
    t.same(
      named.filter((file) => !told.some((each) => each.file === file)),
      [],
    )
  })

  t.test('a setting that an alert or a runbook names is one that can be set, and goes somewhere', async (t) => {
    const clusters = [production, rendered('small')]
    const settings = clusters.flatMap((cluster) => Object.keys(cluster.all('ConfigMap').find(isSettings)?.data ?? {}))
    const variables: readonly Manifest[] = clusters.flatMap((cluster) =>
      cluster.containers.flatMap(({ container }) => container.env ?? []),
    )
    const read = new Set(variables.map(({ valueFrom }) => valueFrom?.configMapKeyRef?.key))
    const fixed = new Set(variables.map(({ name, value }) => `${name}=${value}`))
    const files = ['overlays/production/values.env', 'components/restore/restore.env', 'components/secret-files/.env']
    const others = files.flatMap((file) => namesIn(readFileSync(join(deployCopy(), 'k8s', file), 'utf8')))
    const named = sections
      .filter(({ where }) => /^(?:alerts|runbooks)/.test(where))
      .flatMap(({ text }) => [...text.matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)])
      .filter(([words]) => !fixed.has(words.slice(1, -1)))
      .map(([, name = '']) => name)
      .filter((name) => !Object.hasOwn(errorCatalogue, name) && !ofVolumes.includes(name) && !others.includes(name))
    t.ok(named.length > 10, `${named.length} names`)
    t.same(
      named.filter((name) => !settings.includes(name)),
      [],
    )
    t.same(
      named.filter((name) => !read.has(name) && !ofTransformers.includes(name)),
      [],
    )
  })

  t.test('every object, label and container in a command is there', async (t) => {
    const missing = calls.filter((call) => {
      const { namespace, selector, container, objects } = meantBy(call)
      if (namespace !== 'backoffice') return false
      const cluster = isOfSmall(call.command.where) ? rendered('small') : production
      const hasContainer = (name: string) =>
        name.includes('$') ||
        ofPostgres.includes(name) ||
        cluster.containers.some((each) => each.container.name === name)
      return !(
        objects.every(({ kind, name }) => isThere(cluster, kind, name)) &&
        (selector === undefined || isSelected(cluster, selector)) &&
        (container === undefined || hasContainer(container))
      )
    })
    t.ok(calls.length > 150, `${calls.length} calls`)
    t.same(missing.map(written), [])
  })

  t.test('a command about PostgreSQL means the cluster that is in service, whatever its name is by now', async (t) => {
    const fixed = calls.filter(({ words }) =>
      /^cnpg (?!psql --).* postgres\b|cluster[ =/]postgres\b|\bpostgres-\d/.test(words.join(' ')),
    )
    t.same(fixed.map(written), [])
  })

  t.test('what a section scales to nothing it scales up again, and no autoscaler is deleted', async (t) => {
    t.same(
      calls.filter((call) => meantBy(call).verb === 'delete' && /\bhpa\b|autoscaler/.test(written(call))).map(written),
      [],
    )
    const scaled = calls.filter((call) => meantBy(call).verb === 'scale')
    const targets = (where: string, wanted: RegExp) =>
      scaled
        .filter(({ command, words }) => command.where === where && wanted.test(words.join(' ')))
        .flatMap((call) => scaledBy(production, call))
    let stopped = 0
    for (const where of new Set(scaled.map(({ command }) => command.where))) {
      const up = targets(where, /--replicas=[1-9]/)
      for (const name of targets(where, /--replicas=0/)) {
        stopped++
        t.ok(up.includes(name), `${where}: ${name}`)
      }
    }
    t.ok(stopped > 5)
  })

  t.test('each command is permitted to the role that it names', async (t) => {
    for (const size of withOperators) {
      const cluster = rendered(size)
      const onCall = rulesOf(cluster, ['backoffice-on-call'])
      const incident = ['on-call', 'break-glass'].flatMap((role) => rulesOfRole(cluster, 'backoffice', role))
      const rules: Readonly<Partial<Record<GuideRole, Rules>>> = { 'on-call': onCall, 'break-glass': incident }
      const isPermitted = (call: Call) => {
        // The pipeline and the cluster's own administrators may do everything.
        const may = rules[call.command.role]
        return may === undefined || askedBy(call).every((each) => allows(may, each))
      }
      const ofSize = calls.filter(({ command }) => size === 'production' || ofEverySize.has(command.where))
      t.same(ofSize.filter((call) => !isPermitted(call)).map(written), [], size)
      // What the guides once said, and nobody could do.
      for (const [role, text] of refused) {
        const made = callsOf(folder, [{ where: size, role, text, shows: undefined, inBlock: true }])
        t.notOk(made.some(isPermitted), `${role}: ${text}`)
      }
    }
    for (const role of roles) t.ok(calls.filter(({ command }) => command.role === role).length > 3, role)
  })

  t.test('what changes something stands in a block, and what follows there shows whether it has worked', async (t) => {
    const all = sections.flatMap(({ commands }) => commands)
    const among = all.filter(({ inBlock, text }) => !inBlock && changes.test(text))
    t.same(
      among.map(({ where, text }) => `${where}: ${text}`),
      [],
    )
    const blind = sections.flatMap(({ commands }) => {
      const lastChange = commands.findLastIndex(({ text }) => changes.test(text))
      const change = commands[lastChange]
      if (change === undefined || change.shows !== undefined) return []
      return commands.slice(lastChange + 1).some(({ inBlock }) => inBlock) ? [] : [`${change.where}: ${change.text}`]
    })
    t.same(blind, [])
  })

  t.test(
    'what a section changes is no change that its kind refuses, unless the section deletes the object first',
    async (t) => {
      let changed = 0
      for (const { where, settings, edits } of sections) {
        const size = isOfSmall(where) ? 'small' : 'production'
        const own = calls.filter(({ command }) => command.where === where)
        const deleted = own.flatMap((call) => (meantBy(call).verb === 'delete' ? meantBy(call).objects : []))
        const isKept = (refusal: string) =>
          !deleted.some(({ kind, name }) => refusal.startsWith(`${kind} ${name.replace('$PG', 'postgres')}:`))
        const told = [
          ...settings.map(({ file, name, value }) => ({ file, change: withSettings({ [name]: value }) })),
          ...edits,
        ].map(({ file, change }) => ({ file: inSize(file, size), change }))
        for (const [overlay, ofOverlay] of Map.groupBy(told, ({ file }) => overlayOf(file))) {
          changed++
          const after = rendered(overlay, changesOf(ofOverlay))
          t.same(refusedBetween(rendered(size), after).filter(isKept), [], where)
        }
        for (const { patch, objects } of own.map(meantBy))
          for (const { kind, name } of patch === undefined ? [] : objects) {
            changed++
            const object =
              kind === 'PersistentVolumeClaim' ? claimOf(production, name) : production.find(kind, 'postgres')
            t.same(refusalsOf(object, merged(object, JSON.parse(patch ?? ''))), [], where)
          }
      }
      t.ok(changed > 10, `${changed} changes`)
    },
  )

  t.test('kubectl itself understands every call', { skip: skipWithoutKubectl }, async (t) => {
    const others = /^(?:apply|cnpg|config|krew|kustomize)\b/
    const different = new Map(
      calls
        .filter(({ program, words }) => program === 'kubectl' && !others.test(words.join(' ')))
        .map(({ words }) => [words.join(' '), words]),
    )
    for (const [said, words] of different) {
      const env = { ...process.env, KUBECONFIG: '/dev/null' }
      // Nobody is there: what it says is that, and nothing about the words.
      const { stderr } = spawnSync('kubectl', ['--server=http://127.0.0.1:9', ...words], { encoding: 'utf8', env })
      t.match(stderr, /refused/, said)
    }
  })
})

const changes =
  /kubectl (?:-n \S+ )?(?:scale|patch|delete|annotate|apply|drain|cnpg (?:destroy|promote|restart|backup))|cmctl renew|deploy\.sh|restart \w+$/

const refused: readonly (readonly [GuideRole, string])[] = [
  ['on-call', 'kubectl rollout restart deployment/gateway'],
  ['on-call', 'kubectl cnpg psql $PG'],
  ['on-call', 'kubectl exec nats-0 -c nats -- df -h'],
  ['on-call', 'cmctl renew nats'],
  ['on-call', 'kubectl -n external-secrets scale deployment external-secrets --replicas=0'],
  ['break-glass', 'kubectl delete secret collector-tls'],
  ['break-glass', 'kubectl drain $NODE'],
]

/** Containers of the pods that CloudNativePG makes. */
const ofPostgres = ['postgres', 'plugin-barman-cloud']
const inService = (name: string) => name.replace('$PG', 'postgres')

/** A name that the manifests make, or what works on them: a name that is another each time is anybody's. */
function isThere(cluster: Cluster, kind: string, written: string): boolean {
  const name = inService(written)
  const [, owner = '', index = ''] = /^(?:data-)?(nats|postgres)-(\d)$/.exec(name) ?? []
  const { replicas } = cluster.find('StatefulSet', owner)?.spec ?? {}
  const { instances } = cluster.find('Cluster', owner)?.spec ?? {}
  if (/^$|\$|^node$/.test(name)) return true
  if (kind === 'Pod') return Number(index) < replicas || Number(index) <= instances || name.includes('/')
  if (kind === 'PersistentVolumeClaim') return Number(index) < replicas
  if (kind === 'FailoverQuorum') return cluster.find('Cluster', name) !== undefined
  if (kind === 'ConfigMap') return (cluster.find('Bundle', name) ?? cluster.find(kind, name)) !== undefined
  // What belongs to no namespace is the prerequisites'.
  return kind === 'ClusterSecretStore' || cluster.find(kind, name) !== undefined
}

function isSelected(cluster: Cluster, selector: string): boolean {
  // CloudNativePG labels what it makes.
  return selector.startsWith('cnpg.io/') || cluster.manifests.some((manifest) => isMeant(manifest, selector))
}

/** A volume of NATS as its StatefulSet asks for it. */
function claimOf(cluster: Cluster, name: string): Manifest {
  const [claim] = cluster.find('StatefulSet', 'nats')?.spec.volumeClaimTemplates ?? []
  return { ...claim, kind: 'PersistentVolumeClaim', metadata: { name } }
}

/** One change for each file. */
function changesOf(told: readonly Pick<GuideEdit, 'file' | 'change'>[]): Changes {
  const changes: Record<string, (text: string) => string> = {}
  for (const { file, change } of told) {
    const before = changes[file] ?? ((text: string) => text)
    changes[file] = (text) => change(before(text))
  }
  return changes
}

/** As CloudNativePG labels them. */
const ofVolumes = ['PG_DATA', 'PG_WAL']
/** Settings from which others, names and network policies are made. */
const ofTransformers = ['DATABASE_CLUSTER', 'DATABASE_NETWORK']
const isSettings = ({ metadata }: Manifest) => /^settings-/.test(metadata.name)
const namesIn = (text: string) => [...text.matchAll(/^(\w+)=/gm)].map(([, name = '']) => name)

/** What is rendered with a file of deploy/k8s. */
function overlayOf(file: string): Rendered {
  if (file.startsWith('components/restore/')) return 'restore/production'
  return file.startsWith('overlays/small/') ? 'small' : 'production'
}

/** The names that a `kubectl scale` means. */
function scaledBy(cluster: Cluster, call: Call): readonly string[] {
  const { selector, objects } = meantBy(call)
  if (selector === undefined) return objects.map(({ name }) => name)
  return cluster
    .all('Deployment')
    .filter((manifest) => isMeant(manifest, selector))
    .map(({ metadata }) => metadata.name)
}
