import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { serviceNames, streamKeeper } from '@backoffice/contracts'
import type { Test } from 'tap'
import { deployFolder, type Manifest } from './kustomize.ts'
import { all, type Production, programs } from './production-cluster.ts'
import { rendered, withSettings } from './rendered.ts'
import { natsNameOf } from './secrets.ts'

const isNatsPassword = ({ name }: Manifest) => name === 'NATS_PASSWORD_FILE'

/** PostgreSQL and NATS: what they keep when a zone is lost, and who reaches them. */
export function backendTests(t: Test, { cluster, environmentOf, namesOn }: Production): void {
  t.test('PostgreSQL has connections for all replicas of all services at once', async (t) => {
    // DATABASE_POOL_MAX for writing, a quarter as many for reading, and two for the team's reads. The games have one pool.
    const poolMax = (name: string) => (name === 'games' ? 4 : 10 + Math.ceil(10 / 4) + 2)
    const scaled = cluster.all('HorizontalPodAutoscaler')
    const wanted = scaled.reduce((sum, { metadata, spec }) => sum + (spec.maxReplicas + 1) * poolMax(metadata.name), 0)
    t.ok(wanted <= Number(cluster.find('Cluster', 'postgres').spec.postgresql.parameters.max_connections), `${wanted}`)
    for (const program of programs) t.equal(environmentOf(program).DATABASE_POOL_MAX, undefined, 'the default')
  })

  t.test('PostgreSQL keeps an answered request when a zone is lost, and also when two are', async (t) => {
    const { spec } = cluster.find('Cluster', 'postgres')
    t.match(spec, {
      instances: 3,
      affinity: { podAntiAffinityType: 'required', topologyKey: 'topology.kubernetes.io/zone' },
      postgresql: {
        synchronous: { method: 'any', number: 1, dataDurability: 'required', failoverQuorum: true },
        pg_hba: ['hostnossl all all all reject'],
      },
      managed: { roles: [{ name: 'backoffice_admin', createrole: true, superuser: false }] },
    })
    t.notOk(spec.inheritedMetadata, 'the labels are those of CloudNativePG')
  })

  t.test('PostgreSQL has memory for all its connections, and a disk for the log that a standby may keep', async (t) => {
    const memories = [cluster, ...['hundred', 'thousand'].map(ofSize)].map((sized) => {
      const { postgresql, resources, walStorage } = sized.find('Cluster', 'postgres').spec
      const { max_connections, shared_buffers, effective_cache_size, ...log } = postgresql.parameters
      const memory = bytes(resources.limits.memory)
      // 8 MiB is what a busy connection took when it was measured.
      const wanted = bytes('8MB') * Number(max_connections) + bytes(shared_buffers) + bytes('1GB')
      t.ok(wanted <= memory, `${wanted / 2 ** 30} GiB`)
      t.ok(bytes(effective_cache_size) < memory)
      t.equal(resources.requests.memory, resources.limits.memory)
      t.ok(bytes(log.max_slot_wal_keep_size) <= bytes(walStorage.size) / 2)
      t.ok(
        bytes(log.max_slot_wal_keep_size) + bytes(log.max_wal_size) < 0.8 * bytes(walStorage.size),
        'before VolumeFilling',
      )
      return memory
    })
    t.same(
      memories,
      memories.toSorted((a, b) => a - b),
      'each size is larger',
    )
  })

  t.test('PostgreSQL is backed up by the plugin, at once and each night', async (t) => {
    const { plugins, backup } = cluster.find('Cluster', 'postgres').spec
    const [{ name, isWALArchiver, parameters }, ...others] = plugins
    t.same(others, [])
    t.same([name, isWALArchiver], ['barman-cloud.cloudnative-pg.io', true])
    t.notOk(backup.barmanObjectStore)
    t.match(
      cluster.find('Cluster', 'postgres').spec.imageName,
      /:\d+\.\d+-(minimal|standard)-/,
      'what the plugin needs',
    )
    const { configuration, retentionPolicy } = cluster.find('ObjectStore', parameters.barmanObjectName)?.spec ?? {}
    t.match(configuration, { destinationPath: /^s3:/, wal: { encryption: 'AES256' }, data: { encryption: 'AES256' } })
    t.match(retentionPolicy, /^\d+d$/)
    t.match(cluster.all('ScheduledBackup')[0].spec, {
      cluster: { name: 'postgres' },
      immediate: true,
      method: 'plugin',
      pluginConfiguration: { name },
    })
  })

  t.test('what holds data is the last that a machine in need gives up', async (t) => {
    const classes = cluster.all('PriorityClass').map(({ metadata }) => metadata.name)
    const named = [cluster.find('Cluster', 'postgres').spec, cluster.container('nats').pod]
    for (const { priorityClassName } of named) t.ok(classes.includes(priorityClassName))
    for (const { metadata, preemptionPolicy } of cluster.all('PriorityClass'))
      t.equal(preemptionPolicy, 'Never', `${metadata.name} ends no pod of another team`)
  })

  t.test('the stream has a copy on each of the three servers of NATS, and each is in its own zone', async (t) => {
    const { spec } = cluster.find('StatefulSet', 'nats')
    t.equal(spec.replicas, 3)
    t.match(spec.template.spec.affinity.podAntiAffinity, {
      requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname' }],
    })
    const spread = spec.template.spec.topologySpreadConstraints.find(
      ({ whenUnsatisfiable }: Manifest) => whenUnsatisfiable === 'DoNotSchedule',
    )
    t.match(spread, { topologyKey: 'topology.kubernetes.io/zone', maxSkew: 1, minDomains: 3 })
    t.same(cluster.selected(spread.labelSelector.matchLabels), ['nats'])
    for (const service of serviceNames) t.equal(environmentOf(service).EVENTS_REPLICAS, '3')
  })

  t.test('NATS is reached by the names that its certificate has, over TLS', async (t) => {
    const servers = [0, 1, 2].map((index) => `nats-${index}.nats`)
    const { NATS_URL = '' } = environmentOf('gateway')
    t.same(
      NATS_URL.split(','),
      servers.map((name) => `tls://${name}:4222`),
    )
    const configuration = readFileSync(join(deployFolder, 'nats/cluster.conf'), 'utf8')
    t.ok(configuration.includes(`routes: [ ${servers.map((name) => `"nats://${name}:6222"`).join(', ')} ]`))
    t.match(configuration, /sync_interval: always/)
    for (const name of servers) t.ok(namesOn('nats').includes(name), name)
    t.same(cluster.find('Certificate', 'nats').spec.usages, ['server auth', 'client auth'])
    const [, authority = ''] = /ca_file: "(.*)\/ca\.crt"/.exec(configuration) ?? []
    const { container, pod } = cluster.container('nats')
    const mount = container.volumeMounts.find(({ mountPath }: Manifest) => mountPath === authority)
    const { configMap } = pod.volumes.find(({ name }: Manifest) => name === mount.name)
    t.ok(cluster.find('Bundle', configMap.name), 'what is trusted between servers, while the authority changes too')
  })

  t.test(
    'each client of NATS shows a certificate of its own that names its user, and the servers demand it',
    async (t) => {
      const clients = [...all.filter((name) => name !== 'games'), 'streams', 'migrate']
      // A preflight Job has its workload's settings, and no volume with a password.
      const speaking = cluster.containers.filter(
        ({ pod, container }) => pod.volumes && container.env?.some(isNatsPassword),
      )
      t.same(speaking.map(({ name }) => name).sort(), clients.sort())
      for (const name of clients)
        t.equal(natsNameOf(cluster, name), environmentOf(name).NATS_USER ?? streamKeeper, name)
      const shown = clients.map((name) =>
        cluster.container(name).pod.volumes.find((volume: Manifest) => volume.name === 'nats-certificate'),
      )
      t.equal(new Set(shown.map(({ secret }: Manifest) => secret.secretName)).size, clients.length)
      const configuration = readFileSync(join(deployFolder, 'nats/cluster.conf'), 'utf8')
      t.match(configuration, /^tls \{[^}]*ca_file: "\/etc\/authority\/ca\.crt"\s+verify_and_map: true\s/m)
      const reloader = cluster.container('nats').pod.containers.find(({ name }: Manifest) => name === 'reloader')
      for (const file of ['/etc/nats-tls/tls.crt', '/etc/authority/ca.crt']) {
        t.ok(reloader.args.includes(file), `read again: ${file}`)
        t.ok(
          reloader.volumeMounts.some(({ mountPath }: Manifest) => mountPath === join(file, '..')),
          file,
        )
      }
    },
  )

  t.test('NATS reads a file that is there, with every password that it names', async (t) => {
    const { container, pod } = cluster.container('nats')
    const configured = /--config=\/etc\/nats\/(\S+)/.exec(container.args.join(' '))?.[1] ?? ''
    const data = cluster.filesIn(pod.volumes.find(({ name }: Manifest) => name === 'configuration'))
    t.ok(data[configured])
    const text = Object.values(data)
      .join('\n')
      .replace(/^ *#.*$/gm, '')
    const variables = [...text.matchAll(/\$(NATS_\w+)/g)].map(([, name = '']) => name)
    t.same(
      variables.filter((name) => environmentOf('nats')[name] === undefined),
      [],
    )
    const included = [...text.matchAll(/include "(\S+\/\S+)"/g)].map(([, path = '']) => join('/etc/nats', path))
    t.same([...new Set(included)].sort(), Object.keys(cluster.secretFiles({ pod, container })).sort())
    const reloader = pod.containers.find(({ name }: Manifest) => name === 'reloader')
    for (const path of included.filter((path) => path.startsWith('/etc/nats/passwords/')))
      t.ok(reloader.args.includes(path), `a changed password is read again: ${path}`)
    for (const file of globSync('*.conf', { cwd: join(deployFolder, 'nats') })) t.ok(data[file], file)
  })

  t.test(
    'a proof reads the standbys, over no more connections than they have cores, and more in each size',
    async (t) => {
      const connections = [cluster, ...['hundred', 'thousand'].map(ofSize)].map((sized) => {
        const environment = sized.environment(sized.container('reconciler').container)
        t.equal(new URL(environment.RECONCILE_DATABASE_URL ?? '').host, 'postgres-ro:5432')
        const count = Number(environment.RECONCILE_CONNECTIONS)
        t.ok(count <= Number(sized.find('Cluster', 'postgres').spec.resources.requests.cpu))
        return count
      })
      t.match(
        readFileSync(join(deployFolder, '../docs/scaling.md'), 'utf8'),
        `| \`RECONCILE_CONNECTIONS\` | ${connections.join(' | ')} |`,
      )
      t.ok(new Set(connections).size === 3)
    },
  )

  t.test('who may connect changes without a restart of NATS: the servers are told of changed users', async (t) => {
    const { container, pod, workload } = cluster.container('nats')
    t.ok(cluster.find('ConfigMap', 'nats-users')?.data['users.conf'], 'under one name, so a change replaces no pod')
    const reloader = workload.spec.template.spec.containers.find(({ name }: Manifest) => name === 'reloader')
    const mount = ({ volumeMounts }: Manifest) =>
      volumeMounts.find(({ name }: Manifest) => name === 'configuration').mountPath
    t.equal(mount(reloader), mount(container))
    t.ok(reloader.args.includes(join(mount(reloader), 'users.conf')))
    t.equal(pod.shareProcessNamespace, true, 'it can send the server a signal')
  })
}

/** Production with PostgreSQL for more deposits, and the disks and settings that the head of the component names. */
function ofSize(size: string): Production['cluster'] {
  const component = `components/postgres-sizes/${size}`
  const text = readFileSync(join(deployFolder, 'k8s', component, 'kustomization.yaml'), 'utf8')
  const disks = Object.fromEntries([...text.matchAll(/(POSTGRES_\w+)=(\w+)/g)].map(([, name, value]) => [name, value]))
  const [connections = ''] = /RECONCILE_CONNECTIONS=\d+/.exec(text) ?? []
  return rendered('production', {
    'overlays/production/kustomization.yaml': (before) =>
      before.replace('  - ../../components/postgres\n', (line) => `${line}  - ../../${component}\n`),
    'overlays/production/values.env': withSettings(disks),
    'overlays/production/settings.env': (before) => `${before}${connections}\n`,
  })
}

/** A size as Kubernetes or PostgreSQL writes it; PostgreSQL's MB and GB are powers of two. */
function bytes(size: string): number {
  const [, number = '', unit = ''] = /^(\d+)(Mi|Gi|MB|GB)$/.exec(size) ?? []
  const power = { M: 20, G: 30 }[unit[0] ?? '']
  if (power === undefined) throw new Error(`not a size: ${size}`)
  return Number(number) * 2 ** power
}
