// proof: reads what production has besides its programs: backends, edge, monitoring. They change with deploy/ alone.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { allOperations, bodyBytesMax, serviceNames, streamKeeper } from '@backoffice/contracts'
import ipaddr from 'ipaddr.js'
import t from 'tap'
import { parse } from 'yaml'
import { alerts, fragmentOf } from '../telemetry/rules.ts'
import { arrowsOf, podsOf } from './arrows.ts'
import { type Cluster, rendered, skip, withSettings } from './cluster.ts'
import { deployFolder, type Manifest } from './kustomize.ts'

/** The programs that have a database, and with the team's console, which has none, all of them. */
const programs = [...serviceNames, 'providers', 'games']
const all = [...programs, 'console']
const longestMs = Math.max(...allOperations.map(({ timeoutMs }) => timeoutMs ?? 0))

const edge = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'edge' }
const zone = 'topology.kubernetes.io/zone'

/** What stands in a manifest, by why. */
const stands: readonly (readonly [why: string, kind: string, name: string, what: object])[] = [
  [
    'PostgreSQL keeps an answered request when a zone is lost, and also when two are',
    'Cluster',
    'postgres',
    {
      instances: 3,
      affinity: { podAntiAffinityType: 'required', topologyKey: zone },
      postgresql: { synchronous: { method: 'any', number: 1, dataDurability: 'required', failoverQuorum: true } },
    },
  ],
  [
    'PostgreSQL takes nobody in clear, and its owner is no superuser',
    'Cluster',
    'postgres',
    {
      postgresql: { pg_hba: ['hostnossl all all all reject'] },
      managed: { roles: [{ name: 'backoffice_admin', createrole: true, superuser: false }] },
    },
  ],
  [
    'PostgreSQL is backed up at once and each night',
    'ScheduledBackup',
    'postgres-every-night',
    { cluster: { name: 'postgres' }, immediate: true, method: 'plugin' },
  ],
  [
    'a NATS server is alone on its machine',
    'StatefulSet',
    'nats',
    {
      replicas: 3,
      template: {
        spec: {
          shareProcessNamespace: true,
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname' }],
            },
          },
        },
      },
    },
  ],
  ['NATS servers verify each other', 'Certificate', 'nats', { usages: ['server auth', 'client auth'] }],
  [
    'Envoy changes nothing of path and query, and tells who called',
    'ClientTrafficPolicy',
    'edge',
    {
      targetRefs: [edge],
      path: { disableMergeSlashes: true, escapedSlashesAction: 'KeepUnchanged' },
      headers: { requestID: 'Disable', withUnderscoresAction: 'DropHeader' },
      clientIPDetection: undefined,
    },
  ],
  [
    'Envoy normalises no path',
    'EnvoyPatchPolicy',
    'paths-stay-as-they-came',
    { targetRef: edge, jsonPatches: [{ operation: { path: '/normalize_path', value: false } }] },
  ],
  [
    'Envoy repeats no request that it has sent',
    'BackendTrafficPolicy',
    'gateway',
    { retry: { retryOn: { triggers: ['connect-failure'] } } },
  ],
  [
    'nor one of the console, whose replicas have their own callers',
    'BackendTrafficPolicy',
    'console',
    {
      loadBalancer: { type: 'ConsistentHash', consistentHash: { type: 'SourceIP' } },
      retry: { retryOn: { triggers: ['connect-failure'] } },
    },
  ],
  ['the public address is asked', 'Probe', 'public-address', { module: 'http_2xx', jobName: 'public-address' }],
  ['and the one of providers of games', 'Probe', 'provider-address', { module: 'http_2xx' }],
  ['the console is asked as a person comes', 'Probe', 'console-address', { module: 'http_2xx' }],
  ['and so is the sign-in that it begins', 'Probe', 'console-sign-in', { module: 'http_2xx' }],
  [
    'metrics are found under the name of their program',
    'PodMonitor',
    'services',
    { jobLabel: 'app.kubernetes.io/name', podMetricsEndpoints: [{ port: 'metrics', path: '/metrics' }] },
  ],
]

t.test('production', { skip }, async (t) => {
  const cluster = rendered('production')
  const environmentOf = (name: string) => cluster.environment(cluster.container(name).container)
  const namesOn = (certificate: string): readonly string[] => cluster.find('Certificate', certificate)?.spec.dnsNames

  t.test('what matters stands in its manifests', async (t) => {
    for (const [why, kind, name, what] of stands) t.match(cluster.find(kind, name)?.spec, what, why)
    const { plugins, backup } = cluster.find('Cluster', 'postgres').spec
    t.same(plugins.length, 1)
    t.match(plugins, [{ name: 'barman-cloud.cloudnative-pg.io', isWALArchiver: true }])
    t.notOk(backup.barmanObjectStore)
    const store = cluster.find('ObjectStore', plugins[0].parameters.barmanObjectName).spec
    t.match(store.configuration, { wal: { encryption: 'AES256' }, data: { encryption: 'AES256' } })
    const classes = cluster.all('PriorityClass')
    for (const { priorityClassName } of [cluster.find('Cluster', 'postgres').spec, cluster.container('nats').pod])
      t.ok(classes.some(({ metadata }) => metadata.name === priorityClassName))
    for (const { preemptionPolicy } of classes) t.equal(preemptionPolicy, 'Never', 'ends no pod of another team')
  })

  t.test('PostgreSQL has connections for all replicas, memory for them, and a disk for its log', async (t) => {
    // DATABASE_POOL_MAX for writing, a quarter as many for reading, and two for the team's reads. The games have one pool.
    const poolMax = (name: string) => (name === 'games' ? 4 : 10 + Math.ceil(10 / 4) + 2)
    const scaled = cluster.all('HorizontalPodAutoscaler')
    const wanted = scaled.reduce((sum, { metadata, spec }) => sum + (spec.maxReplicas + 1) * poolMax(metadata.name), 0)
    t.ok(wanted <= Number(cluster.find('Cluster', 'postgres').spec.postgresql.parameters.max_connections), `${wanted}`)
    for (const program of programs) t.equal(environmentOf(program).DATABASE_POOL_MAX, undefined, 'the default')

    const sizes = [cluster, ...['hundred', 'thousand'].map(ofSize)]
    for (const { postgresql, resources, walStorage } of sizes.map((sized) => sized.find('Cluster', 'postgres').spec)) {
      const { max_connections, shared_buffers, effective_cache_size, ...log } = postgresql.parameters
      const memory = bytes(resources.limits.memory)
      // 8 MiB is what a busy connection took when it was measured.
      t.ok(bytes('8MB') * Number(max_connections) + bytes(shared_buffers) + bytes('1GB') <= memory)
      t.ok(bytes(effective_cache_size) < memory)
      t.equal(resources.requests.memory, resources.limits.memory)
      const kept = bytes(log.max_slot_wal_keep_size) + bytes(log.max_wal_size)
      t.ok(kept < 0.8 * bytes(walStorage.size), 'before VolumeFilling')
    }
    const connections = sizes.map((sized) => {
      const environment = sized.environment(sized.container('reconciler').container)
      t.equal(new URL(environment.RECONCILE_DATABASE_URL ?? '').host, 'postgres-ro:5432', 'a proof reads the standbys')
      return Number(environment.RECONCILE_CONNECTIONS)
    })
    for (const [index, count] of connections.entries())
      t.ok(count <= Number(sizes[index]?.find('Cluster', 'postgres').spec.resources.requests.cpu))
  })

  t.test('each server of NATS is in a zone of its own, and the stream has a copy on each', async (t) => {
    const { topologySpreadConstraints } = cluster.container('nats').pod
    const spread = topologySpreadConstraints.find(
      ({ whenUnsatisfiable }: Manifest) => whenUnsatisfiable === 'DoNotSchedule',
    )
    t.match(spread, { topologyKey: zone, maxSkew: 1, minDomains: 3 })
    t.same(cluster.selected(spread.labelSelector.matchLabels), ['nats'])
    for (const service of serviceNames) t.equal(environmentOf(service).EVENTS_REPLICAS, '3')
    const servers = [0, 1, 2].map((index) => `nats-${index}.nats`)
    t.equal(environmentOf('gateway').NATS_URL, servers.map((name) => `tls://${name}:4222`).join())
    for (const name of servers) t.ok(namesOn('nats').includes(name), name)
  })

  t.test('each client of NATS shows a certificate of its own user, and the servers demand it', async (t) => {
    const clients = [...all.filter((name) => name !== 'games'), 'streams', 'migrate']
    for (const name of clients) t.equal(natsNameOf(cluster, name), environmentOf(name).NATS_USER ?? streamKeeper, name)
    const shown = clients.map((name) =>
      cluster.container(name).pod.volumes.find((volume: Manifest) => volume.name === 'nats-certificate'),
    )
    t.equal(new Set(shown.map(({ secret }: Manifest) => secret.secretName)).size, clients.length)
    const configuration = readFileSync(join(deployFolder, 'nats/cluster.conf'), 'utf8')
    t.match(configuration, /^tls \{[^}]*ca_file: "\/etc\/authority\/ca\.crt"\s+verify_and_map: true\s/m)
    t.match(configuration, /sync_interval: always/)
  })

  t.test('NATS reads files that are there, and again when users, passwords or certificates change', async (t) => {
    const { container, pod } = cluster.container('nats')
    const configured = /--config=\/etc\/nats\/(\S+)/.exec(container.args.join(' '))?.[1] ?? ''
    const data = cluster.filesIn(pod.volumes.find(({ name }: Manifest) => name === 'configuration'))
    t.ok(data[configured])
    const text = Object.values(data)
      .join('\n')
      .replace(/^ *#.*$/gm, '')
    const included = [...text.matchAll(/include "(\S+\/\S+)"/g)].map(([, path = '']) => join('/etc/nats', path))
    t.same([...new Set(included)].sort(), Object.keys(cluster.secretFiles({ pod, container })).sort())
    t.ok(cluster.find('ConfigMap', 'nats-users')?.data['users.conf'], 'under one name, so a change replaces no pod')
    const reloader = pod.containers.find(({ name }: Manifest) => name === 'reloader')
    for (const path of [
      ...included.filter((path) => path.startsWith('/etc/nats/passwords/')),
      ...['/etc/nats/users.conf', '/etc/nats-tls/tls.crt', '/etc/authority/ca.crt'],
    ])
      t.ok(reloader.args.includes(path), path)
  })

  t.test('everything runs at least twice, and one eviction at a time is allowed', async (t) => {
    // One reconciler is enough: it does one thing at a time, and nobody waits for it.
    for (const service of programs.filter((name) => name !== 'reconciler')) {
      const { spec } = cluster.find('HorizontalPodAutoscaler', service)
      t.ok(spec.minReplicas >= 2)
      t.same(spec.scaleTargetRef, { apiVersion: 'apps/v1', kind: 'Deployment', name: service })
      // By what it uses, and far above the 0.3 of a core that a hundred requests a second need.
      t.match(spec.metrics, [{ resource: { target: { type: 'AverageValue', averageValue: /^[5-8]\d\dm$/ } } }])
    }
    t.equal(cluster.container('console').workload.spec.replicas, 2)
    for (const name of [...programs.filter((each) => each !== 'reconciler'), 'console', 'nats']) {
      const { selector, maxUnavailable } = cluster.find('PodDisruptionBudget', name).spec
      t.same([maxUnavailable, ...cluster.selected(selector.matchLabels)], [1, name])
    }
  })

  t.test('every connection is verified against our own authority, under a name of the certificate', async (t) => {
    for (const service of all) {
      const { NATS_CA_FILE, DATABASE_CA_FILE, OTEL_EXPORTER_OTLP_CERTIFICATE, ...environment } = environmentOf(service)
      t.equal(NATS_CA_FILE === undefined, service === 'games')
      t.equal(DATABASE_CA_FILE === undefined, service === 'console')
      t.ok(OTEL_EXPORTER_OTLP_CERTIFICATE)
      const mounts = cluster.container(service).container.volumeMounts.map(({ mountPath }: Manifest) => mountPath)
      for (const file of [NATS_CA_FILE, DATABASE_CA_FILE, OTEL_EXPORTER_OTLP_CERTIFICATE])
        if (file !== undefined) t.ok(mounts.includes(join(file, '..')), `${service}: ${file}`)
      for (const url of [environment.DATABASE_URL, environment.RECONCILE_DATABASE_URL])
        if (url !== undefined) t.ok(namesOn('postgres').includes(new URL(url).hostname))
      const collector = new URL(environment.OTEL_EXPORTER_OTLP_ENDPOINT ?? '')
      t.ok(collector.protocol === 'https:' && namesOn('collector').includes(collector.hostname))
    }
    t.ok(environmentOf('migrate').DATABASE_CA_FILE)
    for (const name of ['migrate', 'streams']) t.ok(environmentOf(name).NATS_CA_FILE, name)
    for (const name of ['gateway', 'providers', 'console']) {
      const { TLS_CERT_FILE, TLS_KEY_FILE } = environmentOf(name)
      t.same([TLS_CERT_FILE, TLS_KEY_FILE], [`/etc/${name}-tls/tls.crt`, `/etc/${name}-tls/tls.key`])
      const { validation } = cluster.find('BackendTLSPolicy', name).spec
      t.ok(namesOn(name).includes(validation.hostname))
    }
  })

  t.test('each public name has a listener with a certificate of that name', async (t) => {
    for (const { name, hostname, tls } of cluster.find('Gateway', 'edge').spec.listeners) {
      const secrets = tls.certificateRefs.map(({ name }: Manifest) => name)
      const certificate = cluster.all('Certificate').find(({ spec }) => secrets.includes(spec.secretName))
      t.same(certificate.spec.dnsNames, [hostname])
      const route = cluster.all('HTTPRoute').find(({ spec }) => spec.parentRefs[0].sectionName === name)
      t.same(route.spec.hostnames, [hostname])
    }
    const hostOf = (name: string) => cluster.find('HTTPRoute', name).spec.hostnames[0]
    const { PUBLIC_BASE_URL } = environmentOf('gateway')
    const { CONSOLE_URL } = environmentOf('console')
    t.equal(PUBLIC_BASE_URL, `https://${hostOf('gateway')}/api/v1`)
    t.equal(environmentOf('players').GAMES_BASE_URL, `https://${hostOf('games')}`)
    t.equal(CONSOLE_URL, `https://${hostOf('console')}`)
    const probed = cluster.all('Probe').flatMap(({ spec }) => spec.targets.staticConfig.static)
    const { PROVIDER_BASE_URL } = environmentOf('providers')
    t.equal(PROVIDER_BASE_URL, `https://${hostOf('providers')}/provider/v1`)
    t.same(
      probed.sort(),
      [
        ...[`${PUBLIC_BASE_URL}/docs`, `${PROVIDER_BASE_URL}/docs`],
        ...[`${CONSOLE_URL}/cli`, `${CONSOLE_URL}/login/probe`],
      ].sort(),
    )
    const { request } = cluster.find('HTTPRoute', 'gateway').spec.rules[0].timeouts
    t.ok(Number.parseInt(request, 10) * 1000 > longestMs + 10_000, 'the gateway itself answers')
  })

  t.test('one hop is believed: a range that is nobody’s until an installation writes its own', async (t) => {
    for (const name of ['gateway', 'providers', 'games', 'console']) {
      const { TRUSTED_PROXIES = '' } = environmentOf(name)
      t.equal(ipaddr.parseCIDR(TRUSTED_PROXIES)[0].range(), 'reserved', 'TEST-NET of RFC 5737')
    }
  })

  t.test('a Job has its release in its name, goes by itself, and is made anew by what applies from git', async (t) => {
    const version = /:([^@]+)/.exec(cluster.container('migrate').container.image)?.[1]
    const jobs = cluster.all('Job')
    t.same(
      jobs.map(({ metadata }) => metadata.name).sort(),
      [`migrate-${version}`, ...[...all, 'database'].map((name) => `preflight-${name}-${version}`)].sort(),
    )
    for (const { metadata, spec } of jobs) {
      t.ok(spec.ttlSecondsAfterFinished > 0)
      t.match(metadata.annotations, {
        'argocd.argoproj.io/hook': 'Sync',
        'argocd.argoproj.io/hook-delete-policy': 'BeforeHookCreation',
        'kustomize.toolkit.fluxcd.io/force': 'enabled',
      })
    }
    const wave = ({ metadata }: Manifest) => Number(metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? 0)
    const waves = (kind: string) => [...new Set(cluster.all(kind).map(wave))]
    t.same(['StatefulSet', 'Cluster', 'NetworkPolicy', 'ConfigMap', 'ExternalSecret'].flatMap(waves), [0, 0, 0, 0, 0])
    for (const job of jobs)
      t.equal(wave(job), job.metadata.labels['app.kubernetes.io/component'] === 'preflight' ? 1 : 2)
    for (const program of all) t.equal(wave(cluster.find('Deployment', program)), 3, program)
    t.same(waves('HorizontalPodAutoscaler'), [4])
  })

  t.test('every image comes from the registry of the overlay, with the password for it', async (t) => {
    const { imageName, imagePullSecrets } = cluster.find('Cluster', 'postgres').spec
    const images = cluster.containers.map(({ container }) => container.image)
    for (const image of [...images, imageName]) t.match(image, /^registry\.example\//)
    const accounts = cluster.all('ServiceAccount').map((account) => account.imagePullSecrets)
    t.ok(accounts.length > 10)
    for (const secrets of [...accounts, imagePullSecrets]) t.same(secrets, [{ name: 'registry' }])
  })

  t.test('Prometheus finds the metrics of everything, on a port that it has', async (t) => {
    const { spec } = cluster.find('PodMonitor', 'services')
    // The preflight Jobs have the services' component, and no such port.
    const measured = podsOf(cluster, spec.selector).filter((name) => !name.startsWith('preflight-'))
    t.same([...measured].sort(), [...all].sort())
    for (const service of all) {
      const { containerPort } = cluster.ports(service).find(({ name }) => name === 'metrics') ?? {}
      t.equal(String(containerPort), environmentOf(service).OTEL_EXPORTER_PROMETHEUS_PORT)
    }
    for (const name of ['postgres', 'nats'])
      t.same(podsOf(cluster, cluster.find('PodMonitor', name).spec.selector), [name])
    for (const { port } of cluster.find('PodMonitor', 'nats').spec.podMetricsEndpoints)
      t.ok(cluster.ports('nats').some(({ name }) => name === port))
  })

  t.test('a stranger to NATS is whoever is no pod that has a password for it', async (t) => {
    const { expr } = alerts('platform-alerts.yaml').find(({ alert }) => alert === 'NatsStranger') ?? { expr: '' }
    const [, known = ''] = /pod=~"\((.+?)\)-\.\+"/.exec(expr) ?? []
    const speaking = cluster.containers.filter(
      ({ pod, container }) => pod.volumes && container.env?.some(({ name }: Manifest) => name === 'NATS_PASSWORD_FILE'),
    )
    t.same(known.split('|').sort(), speaking.map(({ name }) => name).sort())
  })

  t.test('each rule of the files reaches the operator of Prometheus', async (t) => {
    const loaded = cluster.all('PrometheusRule').flatMap(({ spec }) => spec.groups)
    const written = globSync('telemetry/*alerts.yaml', { cwd: deployFolder }).flatMap(
      (file) => parse(readFileSync(join(deployFolder, file), 'utf8')).groups,
    )
    const named = (groups: readonly Manifest[]) =>
      groups.flatMap(({ rules }) => rules.map(({ alert, record }: Manifest) => alert ?? record)).sort()
    t.ok(named(written).length > 80)
    t.same(named(loaded), named(written))
  })
})

t.test('production elsewhere, while its public names move from one way in to the other', { skip }, async (t) => {
  const cluster = rendered('production', {
    'overlays/production/kustomization.yaml': (text) =>
      text.replace(/^( *- .*components\/)gateway-api$/m, '$&\n$1ingress-nginx'),
    'overlays/production/monitoring.env': withSettings({
      PROMETHEUS_RELEASE: 'observability',
      ALERTS_GUIDE_URL: 'https://wiki.bank.example/oncall/alerts',
    }),
  })

  t.test('both ways in stand side by side, and the Ingress changes no path either', async (t) => {
    const { open } = arrowsOf(cluster)
    for (const proxy of ['envoy-gateway-system/envoy', 'ingress-nginx/ingress-nginx'])
      for (const to of ['gateway:8080', 'providers:8084', 'games:8082', 'console:8083'])
        t.ok(open.includes(`${proxy} → ${to}`), proxy)
    const settings = Object.fromEntries(
      Object.entries<string>(cluster.find('Ingress', 'gateway')?.metadata.annotations).map(([name, value]) => [
        name.replace('nginx.ingress.kubernetes.io/', ''),
        value,
      ]),
    )
    for (const rewriting of ['rewrite-target', 'use-regex', 'app-root', 'configuration-snippet', 'server-snippet'])
      t.notOk(rewriting in settings, rewriting)
    t.match(settings, { 'proxy-next-upstream': 'error', 'backend-protocol': 'HTTPS', 'proxy-ssl-verify': 'on' })
    t.ok(Number.parseInt(settings['proxy-body-size'] ?? '', 10) * 1024 > bodyBytesMax, 'the gateway refuses it')
    t.ok(Number(settings['proxy-read-timeout']) * 1000 > longestMs + 10_000, 'the gateway itself answers')
  })

  t.test('Prometheus and Grafana find everything by the labels that they select', async (t) => {
    for (const kind of ['PodMonitor', 'Probe', 'PrometheusRule'])
      for (const { metadata } of cluster.all(kind)) t.equal(metadata.labels.release, 'observability', kind)
    const { metadata, data } = cluster.find('ConfigMap', 'dashboard')
    t.equal(metadata.labels?.grafana_dashboard, '1')
    t.equal(JSON.parse(data['dashboard.json']).uid, 'backoffice')
  })

  t.test('nothing is too large for kubectl apply, which keeps a copy in an annotation', async (t) => {
    for (const manifest of cluster.manifests)
      t.ok(JSON.stringify(manifest).length < 256 * 1024, `${manifest.kind} ${manifest.metadata.name}`)
  })

  t.test('an alert links to the guide where it is read, at its own section', async (t) => {
    const rules = cluster
      .all('PrometheusRule')
      .flatMap(({ spec }) => spec.groups.flatMap((group: Manifest) => group.rules))
    const linked = rules.filter(({ alert }: Manifest) => alert !== undefined)
    t.ok(linked.length > 60)
    for (const { alert, annotations } of linked)
      t.equal(annotations.runbook_url, `https://wiki.bank.example/oncall/alerts#${fragmentOf(alert)}`)
  })
})

/** Production with PostgreSQL for more deposits, and the disks and settings that the head of the component names. */
function ofSize(size: string): Cluster {
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

/** The one name on the certificate that a workload shows to NATS; undefined where it shows none. */
function natsNameOf(cluster: Cluster, name: string): string | undefined {
  const { container, pod } = cluster.container(name)
  const { NATS_CERT_FILE: file, NATS_KEY_FILE: key } = cluster.environment(container)
  const mount = container.volumeMounts?.find(({ mountPath }: Manifest) => file === join(mountPath, 'tls.crt'))
  if (mount === undefined || key !== join(mount.mountPath, 'tls.key')) return undefined
  const { secret } = pod.volumes.find((volume: Manifest) => volume.name === mount.name)
  const shown = cluster.all('Certificate').find(({ spec }) => spec.secretName === secret.secretName)
  const [dnsName, ...others] = shown?.spec.dnsNames ?? []
  return others.length === 0 && shown?.spec.usages.join() === 'client auth' ? dnsName : undefined
}
