import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { Cluster } from './cluster.ts'
import { copyOfDeploy, isMeant, kustomizeCommand, render } from './kustomize.ts'
import { skip } from './rendered.ts'

t.setTimeout(240_000)

// What the guides tell people to type and to write, held against what production is made of.

interface Section {
  /** The guide and the heading. */
  readonly where: string
  readonly text: string
}

const guides = [
  'operations.md',
  'alerts.md',
  'runbooks/restore.md',
  'runbooks/lost-parts.md',
  'runbooks/night.md',
  'platform-upgrades.md',
]
const sections: readonly Section[] = guides.flatMap((guide) =>
  readFileSync(new URL(`../../docs/${guide}`, import.meta.url), 'utf8')
    .split(/^(?=##+ )/m)
    .map((text) => ({ where: `${guide}, ${text.split('\n', 1)[0]}`, text })),
)

/** The commands of a section, from its blocks and its lines, with each name that a loop goes through. */
function commandsOf({ text }: Section): readonly string[] {
  const blocks = [...text.matchAll(/^ *```sh\n([\s\S]*?)^ *```/gm)].map(([, block = '']) => block)
  const spans = [...text.replaceAll(/^ *```[\s\S]*?^ *```/gm, '').matchAll(/`([^`]+)`/g)].map(([, span = '']) => span)
  return [...blocks.flatMap((block) => block.split('\n')), ...spans].flatMap((line) => {
    const [, name, values] = /for (\w+) in ([^;]+);/.exec(line) ?? []
    const lines = values === undefined ? [line] : values.split(' ').map((value) => line.replaceAll(`$${name}`, value))
    return lines
      .flatMap((each) => each.split(/&&|;|\$\(| \\?\| /))
      .flatMap((part) => /kubectl .*/.exec(part)?.[0] ?? [])
  })
}

/** Where a person is told to write which value: `NAME=value` in `file.env`, or a line of a table with both. */
const lines = sections.flatMap(({ where, text }) =>
  [
    ...text.matchAll(/`(?<name>[A-Z_]+)=(?<value>[^`]+)` (?:in|into) `(?<file>[\w/-]+\.env)`/g),
    ...text.matchAll(/\| `(?<file>[\w/-]+\.env)` \| `(?<name>[A-Z_]+)=(?<value>[^`]+)`/g),
  ].map(({ groups }) => ({ where, ...(groups as Record<'name' | 'value' | 'file', string>) })),
)

/** What a person is told to write into other files: the words, and the change that they ask for. */
const edits: readonly (readonly [file: string, words: RegExp, change: (text: string) => string])[] = [
  ['overlays/production/postgres.yaml', /`imageName`/, (text) => text.replace(/18\.\d+-system/, '18.99-system')],
  [
    'overlays/production/postgres.yaml',
    /`serverName: postgres-19`/,
    (text) => text.replace(/serverName: .*/, 'serverName: postgres-19'),
  ],
  ['base/nats.yaml', /[Ss]et the image/, (text) => text.replace(/nats:2\.\d+/, 'nats:2.99')],
  [
    'components/tls/authority.yaml',
    /second authority/,
    (text) => {
      const authority = text.split(/^---$/m).find((part) => /name: backoffice-authority$/m.test(part)) ?? ''
      return `${text.trimEnd()}\n---\n${authority.replaceAll('backoffice-authority', 'backoffice-authority-2')}`
    },
  ],
  [
    'overlays/production/team-identity/machines.json',
    /make-machine\.sh/,
    () => '[{"name":"ledger-export","roles":["finance"]}]',
  ],
]

t.test('the guides and the manifests', { skip }, async (t) => {
  const kustomize = kustomizeCommand() ?? []
  const deploy = copyOfDeploy(t.testdir())
  const rendered = (overlay: 'production' | 'restore') => render(kustomize, deploy, overlay)
  const production = new Cluster(rendered('production'))

  /** The places of `deploy/k8s` that a file's short name in a guide may mean. */
  const pathOf = (file: string) =>
    join(
      deploy,
      'k8s',
      file.includes('/') ? file.replace(/^(?=production\/|restore\/)/, 'overlays/') : `overlays/production/${file}`,
    )

  /** Whether what would be applied changes with the text of a file. */
  function changes(path: string, change: (text: string) => string): boolean {
    const text = readFileSync(path, 'utf8')
    const overlay = path.includes('overlays/restore') ? 'restore' : 'production'
    const before = JSON.stringify(rendered(overlay))
    writeFileSync(path, change(text))
    const after = JSON.stringify(rendered(overlay))
    writeFileSync(path, text)
    return before !== after
  }

  t.test('a value that the guide tells to write changes what is applied', async (t) => {
    t.ok(lines.length >= 7, `${lines.length} lines`)
    for (const { where, file, name, value } of lines) {
      const line = new RegExp(`^${name}=.*$`, 'm')
      const path = pathOf(file)
      const [now] = line.exec(readFileSync(path, 'utf8')) ?? []
      t.ok(now, `${where}: ${file} has ${name}`)
      // A value that stands there already shows nothing.
      const other = now === `${name}=${value}` ? `${value}9` : value
      t.ok(
        changes(path, (text) => text.replace(line, `${name}=${other}`)),
        `${where}: ${name} in ${file}`,
      )
    }
  })

  t.test('so does each other change that it asks for, and no file is named beside these', async (t) => {
    for (const [file, words, change] of edits) {
      const asked = sections.filter(({ text }) => words.test(text))
      t.ok(asked.length > 0, `some section says ${words}`)
      t.ok(changes(pathOf(file), change), `${file}: ${words}`)
    }
    const named = sections.flatMap(({ text }) =>
      [...text.matchAll(/`((?:overlays|base|components|production|restore)\/[\w/-]+\.(?:yaml|env))`/g)].map(
        ([, file = '']) => file,
      ),
    )
    const known = [...edits.map(([file]) => file), ...lines.map(({ file }) => file)].map(pathOf)
    t.same(
      named.filter((file) => !known.includes(pathOf(file))),
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
          !selector.startsWith('cnpg.io/') &&
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
