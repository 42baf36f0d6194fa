import { readFileSync } from 'node:fs'
import { serviceNames } from '@backoffice/contracts'
import t from 'tap'
import { isMeant, type Manifest } from './kustomize.ts'
import { rendered, skip, withSettings } from './rendered.ts'

t.setTimeout(300_000)

const restored = 'postgres-b'
const moment = '2026-03-02T12:00:00.000Z'
const programs = [...serviceNames, 'games'] as const

t.test('a restore, set up as docs/runbooks/restore.md says', { skip }, async (t) => {
  const settings = { 'overlays/production/settings.env': withSettings({ DATABASE_CLUSTER: restored }) }
  const from = withSettings({ RESTORE_FROM: 'postgres-18', RESTORE_TARGET_TIME: moment })
  const before = rendered('production')
  const frozen = rendered('restore', { ...settings, 'overlays/restore/restore.env': from })
  const production = rendered('production', settings)

  t.test('nothing acts while the database comes back: neither a service, nor the team', async (t) => {
    const acting = [...programs, 'console', 'streams', 'nats']
    for (const name of acting) t.equal(frozen.container(name).workload.spec.replicas, 0, name)
    const others = frozen.workloads.map(({ metadata }) => metadata.name).filter((name) => !acting.includes(name))
    t.same(others, ['collector'], 'and nobody migrates')
  })

  t.test('the new cluster comes out of the backups of the lost one, at T', async (t) => {
    const { spec } = frozen.find('Cluster', restored) ?? {}
    t.same(Object.keys(spec.bootstrap), ['recovery'])
    t.match(spec.bootstrap.recovery, { database: 'backoffice', recoveryTarget: { targetTime: moment } })
    const source = spec.externalClusters.find(({ name }: Manifest) => name === spec.bootstrap.recovery.source)
    t.match(source.plugin, { name: 'barman-cloud.cloudnative-pg.io', parameters: { serverName: 'postgres-18' } })
  })

  t.test('it does not archive into the folder that it is restored from', async (t) => {
    for (const { name, parameters } of production.find('Cluster', restored)?.spec.plugins ?? [])
      t.equal(parameters.serverName, `${restored}-18`, name)
    t.equal(production.all('ScheduledBackup')[0].spec.cluster.name, restored)
  })

  t.test('from then on production is the new cluster, by the one setting', async (t) => {
    const host = `${restored}-rw`
    for (const program of [...programs, 'migrate']) {
      const environment = production.environment(production.container(program).container)
      const urls = Object.entries(environment).filter(([name]) => name.endsWith('DATABASE_URL'))
      t.ok(urls.length > 0)
      for (const [name, url] of urls) t.equal(new URL(url).hostname, host, `${program} ${name}`)
    }
    t.ok(production.find('Certificate', 'postgres')?.spec.dnsNames.includes(host))
    t.same(
      production.all('Cluster').map(({ metadata }) => metadata.name),
      [restored],
    )
    t.notMatch(JSON.stringify(production.manifests), /"cnpg.io\/cluster":"postgres"|postgres-rw/)
  })

  t.test('step 3 removes each Job that the new name changes, since a Job cannot be changed', async (t) => {
    const guide = readFileSync(new URL('../../docs/runbooks/restore.md', import.meta.url), 'utf8')
    const [, selector = ''] = /delete job -l '([^']+)'/.exec(guide) ?? []
    const jobs = before.all('Job').filter((job) => {
      const after = production.find('Job', job.metadata.name)
      return JSON.stringify(job.spec.template) !== JSON.stringify(after?.spec.template)
    })
    t.equal(jobs.length, before.all('Job').length)
    for (const job of jobs) t.ok(isMeant(job, selector), job.metadata.name)
  })
})
