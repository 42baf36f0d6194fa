// proof: builds sizes as they are while their database comes back, and with other values. Both change with deploy/k8s alone.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { serviceNames } from '@backoffice/contracts'
import t from 'tap'
import { type Cluster, rendered, skip, withSettings } from './cluster.ts'
import { deployFolder, isMeant, type Manifest, withOperators } from './kustomize.ts'
import { refusedBetween } from './transitions.ts'

const restored = 'postgres-b'
const moment = '2026-03-02T12:00:00.000Z'
const programs = [...serviceNames, 'games'] as const
const guide = readFileSync(new URL('../../docs/runbooks/restore.md', import.meta.url), 'utf8')
const [, stopped = ''] = /scale deployment -l '([^']+)' --replicas=0/.exec(guide) ?? []
const [, removed = ''] = /delete job -l '([^']+)'/.exec(guide) ?? []

for (const size of withOperators)
  t.test(`a restore of ${size}, set up as docs/runbooks/restore.md says`, { skip }, async (t) => {
    const settings = { [`overlays/${size}/settings.env`]: withSettings({ DATABASE_CLUSTER: restored }) }
    const from = withSettings({ RESTORE_FROM: 'postgres-18', RESTORE_TARGET_TIME: moment })
    const before = rendered(size)
    const frozen = rendered(`restore/${size}`, { ...settings, 'components/restore/restore.env': from })
    const after = rendered(size, settings)

    t.test('nothing acts while the database comes back: neither a service, nor the team', async (t) => {
      const acting = [...programs, 'providers', 'console', 'streams', 'nats']
      for (const name of acting) t.equal(frozen.container(name).workload.spec.replicas, 0, name)
      const others = frozen.workloads.map(({ metadata }) => metadata.name).filter((name) => !acting.includes(name))
      t.same(others, size === 'production' ? ['collector'] : [], 'and nobody migrates')
    })

    t.test('the new cluster comes out of the backups of the lost one, at T', async (t) => {
      const { spec } = frozen.find('Cluster', restored) ?? {}
      t.same(Object.keys(spec.bootstrap), ['recovery'])
      t.match(spec.bootstrap.recovery, { database: 'backoffice', recoveryTarget: { targetTime: moment } })
      const source = spec.externalClusters.find(({ name }: Manifest) => name === spec.bootstrap.recovery.source)
      t.match(source.plugin, { name: 'barman-cloud.cloudnative-pg.io', parameters: { serverName: 'postgres-18' } })
      t.ok(frozen.find('ObjectStore', source.plugin.parameters.barmanObjectName))
    })

    t.test('it does not archive into the folder that it is restored from', async (t) => {
      for (const { name, parameters } of after.find('Cluster', restored)?.spec.plugins ?? [])
        t.equal(parameters.serverName, `${restored}-18`, name)
      t.same(
        after.all('ScheduledBackup').map(({ metadata, spec }) => [metadata.name, spec.cluster.name]),
        [[`${restored}-every-night`, restored]],
      )
    })

    t.test('from then on the size is the new cluster, by the one setting', async (t) => {
      for (const program of [...programs, 'providers', 'migrate']) {
        const environment = after.environment(after.container(program).container)
        const urls = Object.entries(environment).filter(([name]) => name.endsWith('DATABASE_URL'))
        t.ok(urls.length > 0)
        for (const [name, url] of urls) {
          const host = name.startsWith('RECONCILE') ? `${restored}-ro` : `${restored}-rw`
          t.equal(new URL(url).hostname, host, `${program} ${name}`)
          t.ok(after.find('Certificate', 'postgres')?.spec.dnsNames.includes(host))
        }
      }
      t.same(
        after.all('Cluster').map(({ metadata }) => metadata.name),
        [restored],
      )
      t.notMatch(JSON.stringify(after.manifests), /"cnpg.io\/cluster":"postgres"|postgres-r[ow]/)
    })

    t.test('no step of it is refused by the rules of what it changes, whichever cluster was in service', async (t) => {
      const next = rendered(size, {
        [`overlays/${size}/settings.env`]: withSettings({ DATABASE_CLUSTER: 'postgres-c' }),
      })
      const states = [before, frozen, after, next]
      for (const [index, state] of states.slice(1).entries())
        t.same(refusedBetween(states[index] as Cluster, state), [])
    })

    t.test('step 3 removes each Job that the new name changes, since a Job cannot be changed', async (t) => {
      const jobs = before.all('Job').filter((job) => {
        const now = after.find('Job', job.metadata.name)
        return JSON.stringify(job.spec.template) !== JSON.stringify(now?.spec.template)
      })
      t.equal(jobs.length, before.all('Job').length)
      for (const job of jobs) t.ok(isMeant(job, removed), job.metadata.name)
    })
  })

t.test('small, whose provider restores to another address', { skip }, async (t) => {
  const address = 'restored.provider.example:6432'
  const file = 'overlays/small/settings.env'
  const small = rendered('small', { [file]: withSettings({ DATABASE_ADDRESS: address }) })

  t.test('the address reaches every program, its preflight and the way out to it', async (t) => {
    for (const name of [...programs, ...programs.map((name) => `preflight-${name}`), 'migrate']) {
      const environment = small.environment(small.container(name).container)
      const urls = Object.entries(environment).filter(([name]) => name.endsWith('DATABASE_URL'))
      t.ok(urls.length > 0, name)
      for (const [, url] of urls) t.equal(new URL(url).host, address, name)
    }
    t.same(small.find('NetworkPolicy', 'clients-reach-postgres').spec.egress[0].ports, [
      { protocol: 'TCP', port: 6432 },
    ])
    t.notMatch(JSON.stringify(small.manifests), 'postgres.provider.example')
  })

  t.test('applying it starts again what step 1 has stopped', async (t) => {
    const acting = [...small.all('Deployment').filter((each) => isMeant(each, stopped)), ...small.all('StatefulSet')]
    t.ok(acting.length > programs.length)
    for (const { metadata, spec } of acting) t.ok(spec.replicas >= 1, metadata.name)
  })

  t.test('its NATS has the disk that the page empties', async (t) => {
    const { spec } = small.find('StatefulSet', 'nats')
    const claims = spec.volumeClaimTemplates.map(({ metadata }: Manifest) => `${metadata.name}-nats-0`)
    t.match(guide, `delete pvc ${claims.join(' ')}\n`)
    t.equal(spec.replicas, claims.length)
  })
})

/** Another value for each of the file, and how many fields it reaches. */
const others: Readonly<Record<string, readonly [value: string, places: number]>> = {
  API_HOST: ['api.another.example', 5],
  GAMES_HOST: ['games.another.example', 4],
  CONSOLE_HOST: ['console.another.example', 6],
  PROVIDERS_HOST: ['providers.another.example', 5],
  ENVOY_REPLICAS: ['11', 1],
  GATEWAY_REPLICAS: ['12', 1],
  PLAYERS_REPLICAS: ['13', 1],
  WALLET_REPLICAS: ['14', 1],
  PAYMENTS_REPLICAS: ['15', 1],
  WEBHOOKS_REPLICAS: ['16', 1],
  GAMES_REPLICAS: ['17', 1],
  CONSOLE_REPLICAS: ['18', 1],
  PROVIDERS_REPLICAS: ['20', 1],
  REPLICAS_MAX: ['8', 5],
  WALLET_REPLICAS_MAX: ['19', 1],
  PROVIDERS_REPLICAS_MAX: ['21', 1],
  SERVICE_MEMORY: ['555Mi', 7],
  SERVICE_MEMORY_MAX: ['999Mi', 7],
  GATEWAY_CPU: ['301m', 1],
  PROVIDERS_CPU: ['306m', 1],
  PLAYERS_CPU: ['302m', 1],
  WALLET_CPU: ['303m', 1],
  PAYMENTS_CPU: ['304m', 1],
  WEBHOOKS_CPU: ['305m', 1],
  POSTGRES_STORAGE: ['333Gi', 1],
  POSTGRES_WAL_STORAGE: ['33Gi', 1],
  NATS_STORAGE: ['44Gi', 1],
}

t.test('the values of production', { skip }, async (t) => {
  const file = 'overlays/production/values.env'
  const text = readFileSync(join(deployFolder, 'k8s', file), 'utf8')
  const values = Object.fromEntries(Object.entries(others).map(([name, [value]]) => [name, value]))
  const before = leaves(rendered('production').manifests)

  t.test('each goes to every field that it is about, and nothing else changes', async (t) => {
    t.same([...text.matchAll(/^(\w+)=/gm)].map(([, name]) => name).sort(), Object.keys(others).sort())
    const after = leaves(rendered('production', { [file]: withSettings(values) }).manifests)
    t.equal(after.length, before.length)
    const changed = after.filter((leaf, index) => leaf !== before[index] && !/^settings-\w+$/.test(leaf))
    for (const [name, [value, places]] of Object.entries(others)) {
      const pattern = new RegExp(`(^|[-/])${RegExp.escape(value)}($|/)`)
      t.equal(changed.filter((leaf) => pattern.test(leaf)).length, places, `${name}: ${value}`)
    }
    t.equal(
      changed.length,
      Object.values(others).reduce((sum, [, places]) => sum + places, 0),
    )
  })

  t.test(
    'an installation takes all of them later, but the disk of NATS, for which a guide makes it anew',
    async (t) => {
      const all = rendered('production', { [file]: withSettings(values) })
      t.same(refusedBetween(rendered('production'), all), ['StatefulSet nats: a field that cannot be changed'])
    },
  )
})

/** Each value of each manifest, as text. */
function leaves(node: Manifest): readonly string[] {
  if (typeof node !== 'object' || node === null) return [String(node)]
  return Object.values(node).flatMap(leaves)
}
