// proof: holds the commands of the guides against what is rolled out. Neither changes with the code of a service.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCatalogue } from '@backoffice/contracts'
import t from 'tap'
import type { Cluster } from './cluster.ts'
import { edits, type GuideSection, inSize, placeOf, sections } from './guide.ts'
import { isMeant, type Manifest, type Rendered } from './kustomize.ts'
import { deployCopy, rendered, skip, withSettings } from './rendered.ts'

// What the guides tell people to type and to write, held against what production is made of.

/** Each name that a loop goes through, and each command of a line. */
const commandsOf = ({ commands }: GuideSection): readonly string[] =>
  commands.flatMap(({ text }) => {
    const [, name, values] = /for (\w+) in ([^;$]+);/.exec(text) ?? []
    const lines = values === undefined ? [text] : values.split(' ').map((value) => text.replaceAll(`$${name}`, value))
    return lines.flatMap((each) => each.split(/&&|;|\$\(| \| /)).flatMap((part) => /kubectl .*/.exec(part)?.[0] ?? [])
  })

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
      const changes: Record<string, (text: string) => string> = {}
      for (const { file, change } of changed) {
        const before = changes[file] ?? ((text: string) => text)
        changes[file] = (text) => change(before(text))
      }
      const [before, after] = [rendered(overlay), rendered(overlay, changes)].map(({ manifests }) =>
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

  t.test('every object and label in a command is there', async (t) => {
    const kinds: Readonly<Record<string, string>> = {
      deployment: 'Deployment',
      statefulset: 'StatefulSet',
      job: 'Job',
      hpa: 'HorizontalPodAutoscaler',
      externalsecret: 'ExternalSecret',
      service: 'Service',
      svc: 'Service',
      certificate: 'Certificate',
      cluster: 'Cluster',
    }
    const missing: string[] = []
    for (const section of sections) {
      for (const command of commandsOf(section)) {
        if (/ (-n|--namespace) (?!backoffice)/.test(command)) continue
        for (const [, kind = '', name = ''] of command.matchAll(
          new RegExp(`\\b(${Object.keys(kinds).join('|')})[/ ]([a-z][a-z0-9-]*)(?![\\w.<…])`, 'g'),
        ))
          if (production.find(kinds[kind] ?? '', name) === undefined) missing.push(`${section.where}: ${command}`)
        const [, selector] = / -l (?:'([^']+)'|(\S+))/.exec(command)?.filter((part) => part !== undefined) ?? []
        if (
          selector !== undefined &&
          !/^cnpg\.io\/|\$|^app\.kubernetes\.io\/name=prometheus$/.test(selector) &&
          !production.manifests.some((manifest) => isMeant(manifest, selector))
        )
          missing.push(`${section.where}: ${command}`)
      }
    }
    t.same(missing, [])
  })

  t.test('a command about PostgreSQL means the cluster that is in service, whatever its name is by now', async (t) => {
    const fixed = sections.flatMap((section) =>
      commandsOf(section)
        .filter((command) =>
          /cnpg (?!psql --)\S.* postgres\b|cluster postgres\b|\bpostgres-\d|cluster=postgres\b/.test(command),
        )
        .map((command) => `${section.where}: ${command}`),
    )
    t.same(fixed, [])
  })

  t.test('what a section scales to nothing it scales up again, and no autoscaler is deleted', async (t) => {
    let scaled = 0
    for (const section of sections) {
      const commands = commandsOf(section)
      t.same(
        commands.filter((command) => /delete (hpa|horizontalpodautoscaler)/.test(command)),
        [],
        section.where,
      )
      const targets = (wanted: RegExp) =>
        commands
          .filter((command) => / scale /.test(command) && wanted.test(command))
          .flatMap((command) => scaledBy(production, command))
      const up = targets(/--replicas=[1-9]/)
      for (const name of targets(/--replicas=0/)) {
        scaled++
        t.ok(up.includes(name), `${section.where}: ${name}`)
      }
    }
    t.ok(scaled > 5)
  })
})

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
function scaledBy(cluster: Cluster, command: string): readonly string[] {
  const [, selector] = / -l '([^']+)'/.exec(command) ?? []
  const [, name = ''] = / scale (?:deployment|statefulset)[/ ]([a-z-]+)/.exec(command) ?? []
  if (selector === undefined) return [name]
  return cluster
    .all('Deployment')
    .filter((manifest) => isMeant(manifest, selector))
    .map(({ metadata }) => metadata.name)
}
