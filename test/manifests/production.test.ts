import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { allOperations, bodyBytesMax, serviceNames } from '@backoffice/contracts'
import ipaddr from 'ipaddr.js'
import t from 'tap'
import { parse } from 'yaml'
import { arrowsOf, podsOf } from './arrows.ts'
import { Cluster } from './cluster.ts'
import { copyOfDeploy, deployFolder, kustomizeCommand, type Manifest, render } from './kustomize.ts'
import { forEachOverlay, skip } from './rendered.ts'

t.setTimeout(300_000)

const prefix = 'nginx.ingress.kubernetes.io/'
const programs = [...serviceNames, 'games']
/** With the team's console, which has no database. */
const all = [...programs, 'console']

t.test('production', { skip }, async (t) => {
  let found: Cluster | undefined
  forEachOverlay(t, (overlay, cluster) => {
    if (overlay === 'production') found = cluster
  })
  if (found === undefined) return
  const cluster = found
  const environmentOf = (name: string) => cluster.environment(cluster.container(name).container)
  const namesOn = (certificate: string): readonly string[] =>
    cluster.find('Certificate', certificate)?.spec.dnsNames ?? []

  t.test('everything runs at least twice, and one eviction at a time is allowed', async (t) => {
    for (const service of programs) {
      const { spec } = cluster.find('HorizontalPodAutoscaler', service)
      t.ok(spec.minReplicas >= 2)
      t.same(spec.scaleTargetRef, { apiVersion: 'apps/v1', kind: 'Deployment', name: service })
      const budget = cluster.find('PodDisruptionBudget', service)
      t.equal(budget.spec.maxUnavailable, 1)
      t.same(cluster.selected(budget.spec.selector.matchLabels), [service])
    }
    const { workload } = cluster.container('console')
    t.equal(workload.spec.replicas, 2)
    const { selector, maxUnavailable } = cluster.find('PodDisruptionBudget', 'console').spec
    t.same([maxUnavailable, ...cluster.selected(selector.matchLabels)], [1, 'console'])
    t.same(cluster.selected(cluster.find('PodDisruptionBudget', 'nats').spec.selector.matchLabels), ['nats'])
  })

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
    const { postgresql, resources, walStorage } = cluster.find('Cluster', 'postgres').spec
    const { max_connections, shared_buffers, max_slot_wal_keep_size } = postgresql.parameters
    // 8 MiB is what a busy connection took when it was measured.
    const wanted = bytes('8MB') * Number(max_connections) + bytes(shared_buffers) + bytes('1GB')
    t.ok(wanted <= bytes(resources.limits.memory), `${wanted / 2 ** 30} GiB`)
    t.equal(resources.requests.memory, resources.limits.memory)
    t.ok(bytes(max_slot_wal_keep_size) <= bytes(walStorage.size) / 2)
  })

  t.test('PostgreSQL is backed up by the plugin, at once and each night', async (t) => {
    const { plugins, backup } = cluster.find('Cluster', 'postgres').spec
    const [{ name, isWALArchiver, parameters }, ...others] = plugins
    t.same(others, [])
    t.same([name, isWALArchiver], ['barman-cloud.cloudnative-pg.io', true])
    t.notOk(backup.barmanObjectStore)
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

  t.test('every connection is verified against our own authority, under a name of the certificate', async (t) => {
    for (const service of all) {
      const { NATS_CA_FILE, DATABASE_CA_FILE, OTEL_EXPORTER_OTLP_CERTIFICATE, ...environment } = environmentOf(service)
      t.equal(NATS_CA_FILE === undefined, service === 'games')
      t.equal(DATABASE_CA_FILE === undefined, service === 'console')
      const mounts = cluster.container(service).container.volumeMounts.map(({ mountPath }: Manifest) => mountPath)
      for (const file of [NATS_CA_FILE, DATABASE_CA_FILE, OTEL_EXPORTER_OTLP_CERTIFICATE])
        if (file !== undefined) t.ok(mounts.includes(join(file, '..')), `${service}: ${file}`)
      t.ok(OTEL_EXPORTER_OTLP_CERTIFICATE)
      const { DATABASE_URL } = environment
      if (DATABASE_URL !== undefined) t.ok(namesOn('postgres').includes(new URL(DATABASE_URL).hostname))
      const collector = new URL(environment.OTEL_EXPORTER_OTLP_ENDPOINT ?? '')
      t.equal(collector.protocol, 'https:')
      t.ok(namesOn('collector').includes(collector.hostname))
    }
    t.ok(environmentOf('migrate').DATABASE_CA_FILE)
    for (const name of ['migrate', 'streams']) t.ok(environmentOf(name).NATS_CA_FILE, name)
    for (const name of ['gateway', 'console']) {
      const { TLS_CERT_FILE, TLS_KEY_FILE } = environmentOf(name)
      t.same([TLS_CERT_FILE, TLS_KEY_FILE], [`/etc/${name}-tls/tls.crt`, `/etc/${name}-tls/tls.key`])
    }
    const { certificates } = cluster.find('Cluster', 'postgres').spec
    t.equal(certificates.serverTLSSecret, cluster.find('Certificate', 'postgres').spec.secretName)
    t.match(cluster.container('collector').container.args.join('\n'), /http::tls::cert_file: \/etc\/collector-tls/)
  })

  const longestMs = Math.max(...allOperations.map(({ timeoutMs }) => timeoutMs ?? 0))

  t.test('Envoy changes nothing of path and query, and repeats no request that it has sent', async (t) => {
    const edge = { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'edge' }
    const { listeners } = cluster.find('Gateway', 'edge').spec
    const { spec: client } = cluster.find('ClientTrafficPolicy', 'edge')
    t.same(client.targetRefs, [edge])
    t.same(client.path, { disableMergeSlashes: true, escapedSlashesAction: 'KeepUnchanged' })
    t.match(client.headers, { requestID: 'Disable', withUnderscoresAction: 'DropHeader' })
    t.equal(client.clientIPDetection, undefined, 'the peer is the caller')

    const { spec: patch } = cluster.find('EnvoyPatchPolicy', 'paths-stay-as-they-came')
    t.same(patch.targetRef, edge)
    t.match(patch.jsonPatches, [{ operation: { path: '/normalize_path', value: false } }])
    t.equal(patch.jsonPatches[0].name, `backoffice/edge/${listeners[0].name}`)
    t.equal(new Set(listeners.map(({ port }: Manifest) => port)).size, 1, 'one listener of Envoy for all')

    const { spec: backend } = cluster.find('BackendTrafficPolicy', 'gateway')
    t.same(backend.retry.retryOn, { triggers: ['connect-failure'] })
    t.same(backend.targetRefs.map(({ name }: Manifest) => name).sort(), ['console', 'games', 'gateway'])
    const { request } = cluster.find('HTTPRoute', 'gateway').spec.rules[0].timeouts
    t.ok(Number.parseInt(request, 10) * 1000 > longestMs + 10_000, 'the gateway itself answers')
  })

  t.test(
    'each public name has a listener with a certificate of that name, and leads to gateway and console over TLS',
    async (t) => {
      for (const { name, hostname, tls } of cluster.find('Gateway', 'edge').spec.listeners) {
        const secrets = tls.certificateRefs.map(({ name }: Manifest) => name)
        const certificate = cluster.all('Certificate').find(({ spec }) => secrets.includes(spec.secretName))
        t.same(certificate.spec.dnsNames, [hostname])
        const route = cluster.all('HTTPRoute').find(({ spec }) => spec.parentRefs[0].sectionName === name)
        t.same(route.spec.hostnames, [hostname])
      }
      for (const service of ['gateway', 'console']) {
        const { targetRefs, validation } = cluster.find('BackendTLSPolicy', service).spec
        t.match(targetRefs, [{ kind: 'Service', name: service }])
        t.ok(namesOn(service).includes(validation.hostname))
        t.match(validation.caCertificateRefs, [{ kind: 'ConfigMap', name: cluster.all('Bundle')[0].metadata.name }])
      }
      const [api] = cluster.find('HTTPRoute', 'gateway').spec.hostnames
      const [games] = cluster.find('HTTPRoute', 'games').spec.hostnames
      t.equal(environmentOf('gateway').PUBLIC_BASE_URL, `https://${api}/api/v1`)
      t.equal(environmentOf('players').GAMES_BASE_URL, `https://${games}`)
      const [team] = cluster.find('HTTPRoute', 'console').spec.hostnames
      t.equal(environmentOf('console').CONSOLE_URL, `https://${team}`)
    },
  )

  t.test('both ways in can stand side by side, while the public names move', async (t) => {
    const deploy = copyOfDeploy(t.testdir())
    const file = join(deploy, 'k8s/overlays/production/kustomization.yaml')
    const both = readFileSync(file, 'utf8').replace(/^( *- .*components\/)gateway-api$/m, '$&\n$1ingress-nginx')
    writeFileSync(file, both)
    const { open } = arrowsOf(new Cluster(render(kustomizeCommand() ?? [], deploy, 'production')))
    for (const proxy of ['envoy-gateway-system/envoy', 'ingress-nginx/ingress-nginx'])
      for (const to of ['gateway:8080', 'games:8082', 'console:8083']) t.ok(open.includes(`${proxy} → ${to}`), proxy)
  })

  t.test('with the component for ingress-nginx the same holds of its Ingress', async (t) => {
    const deploy = copyOfDeploy(t.testdir())
    const file = join(deploy, 'k8s/overlays/production/kustomization.yaml')
    writeFileSync(file, readFileSync(file, 'utf8').replace('components/gateway-api', 'components/ingress-nginx'))
    const legacy = new Cluster(render(kustomizeCommand() ?? [], deploy, 'production'))
    t.equal(legacy.all('HTTPRoute').length, 0)
    t.ok(arrowsOf(legacy).open.includes('ingress-nginx/ingress-nginx → gateway:8080'))
    const { annotations } = legacy.find('Ingress', 'gateway')?.metadata ?? {}
    const settings = Object.fromEntries(
      Object.entries(annotations as Record<string, string>).map(([name, value]) => [name.replace(prefix, ''), value]),
    )
    for (const rewriting of ['rewrite-target', 'use-regex', 'app-root', 'configuration-snippet', 'server-snippet'])
      t.notOk(rewriting in settings, rewriting)
    t.equal(settings['proxy-next-upstream'], 'error')
    t.ok(
      Number.parseInt(settings['proxy-body-size'] ?? '', 10) * 1024 > bodyBytesMax,
      'the gateway itself refuses a large body',
    )
    t.ok(Number(settings['proxy-read-timeout']) * 1000 > longestMs + 10_000, 'the gateway itself answers')
    t.match(settings, {
      'backend-protocol': 'HTTPS',
      'proxy-ssl-verify': 'on',
      'proxy-ssl-secret': 'backoffice/ingress-tls',
    })
    t.ok(namesOn('gateway').includes(settings['proxy-ssl-name'] ?? ''))
    const host = (name: string) => legacy.find('Ingress', name)?.spec.rules[0].host
    t.equal(environmentOf('gateway').PUBLIC_BASE_URL, `https://${host('gateway')}/api/v1`)
    t.equal(environmentOf('players').GAMES_BASE_URL, `https://${host('games')}`)
    t.equal(environmentOf('console').CONSOLE_URL, `https://${host('console')}`)
    const ofTheConsole = legacy.find('Ingress', 'console')?.metadata.annotations
    t.match(ofTheConsole, { [`${prefix}backend-protocol`]: 'HTTPS', [`${prefix}proxy-ssl-verify`]: 'on' })
    t.ok(namesOn('console').includes(ofTheConsole[`${prefix}proxy-ssl-name`]))
    t.ok(Number.parseInt(ofTheConsole[`${prefix}proxy-buffer-size`], 10) > 4, 'a cookie fills the 4 KiB of the default')
  })

  t.test('one hop is believed, and it is inside of the cluster', async (t) => {
    const trusted = (environmentOf('gateway').TRUSTED_PROXIES ?? '').split(',')
    for (const name of ['games', 'console'])
      t.same((environmentOf(name).TRUSTED_PROXIES ?? '').split(','), trusted, name)
    t.equal(trusted.length, 1)
    const [network, bits] = ipaddr.parseCIDR(trusted[0] ?? '')
    t.equal(network.range(), 'private')
    t.ok(bits >= 8)
  })

  t.test(
    'a Job has its release in its name, goes by itself, and is made anew by what applies it from git',
    async (t) => {
      const version = /:([^@]+)/.exec(cluster.container('migrate').container.image)?.[1]
      const jobs = cluster.all('Job')
      t.same(jobs.map(({ metadata }) => metadata.name).sort(), [
        `migrate-${version}`,
        `preflight-${version}`,
        `preflight-database-${version}`,
      ])
      for (const { metadata, spec } of jobs) {
        t.ok(spec.ttlSecondsAfterFinished > 0)
        t.match(metadata.annotations, {
          'argocd.argoproj.io/hook': 'Sync',
          'argocd.argoproj.io/hook-delete-policy': 'BeforeHookCreation',
          'kustomize.toolkit.fluxcd.io/force': 'enabled',
        })
      }
    },
  )

  t.test(
    'Argo CD brings backends, preflight, migration, services and what scales them, one after the other',
    async (t) => {
      const wave = ({ metadata }: Manifest) => Number(metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? 0)
      const waves = (kind: string) => [...new Set(cluster.all(kind).map(wave))]
      t.same(['StatefulSet', 'Cluster', 'NetworkPolicy', 'ConfigMap', 'ExternalSecret'].flatMap(waves), [0, 0, 0, 0, 0])
      const jobs = Object.fromEntries(
        cluster.all('Job').map((job) => [job.metadata.labels['app.kubernetes.io/name'], wave(job)]),
      )
      t.same(jobs, { preflight: 1, 'preflight-database': 1, migrate: 2 })
      for (const program of all) t.equal(wave(cluster.find('Deployment', program)), 3, program)
      t.same(waves('HorizontalPodAutoscaler'), [4])
    },
  )

  t.test('every image comes from the registry of the overlay, with the password for it', async (t) => {
    const images = [
      ...cluster.containers.map(({ container }) => container.image),
      ...cluster.all('Cluster').map(({ spec }) => spec.imageName),
    ]
    for (const image of images) t.match(image, /^registry\.example\//)
    const accounts = cluster.all('ServiceAccount')
    t.ok(accounts.length > 10)
    for (const { metadata, imagePullSecrets } of accounts)
      t.same(imagePullSecrets, [{ name: 'registry' }], metadata.name)
    t.same(cluster.find('Cluster', 'postgres').spec.imagePullSecrets, [{ name: 'registry' }])
    const secrets = cluster.all('ExternalSecret').filter(({ metadata }) => metadata.name === 'registry')
    t.same(secrets.map(({ metadata }) => metadata.namespace).sort(), ['backoffice', 'backoffice-on-call'])
    for (const { spec } of secrets) t.equal(spec.target.template.type, 'kubernetes.io/dockerconfigjson')
  })

  t.test('Prometheus finds the metrics of everything under its name', async (t) => {
    const { spec } = cluster.find('PodMonitor', 'services')
    // The preflight Job has a service's labels, and no such port.
    const measured = podsOf(cluster, spec.selector).filter((name) => name !== 'preflight')
    t.same([...measured].sort(), [...all].sort())
    t.match(spec, { jobLabel: 'app.kubernetes.io/name', podMetricsEndpoints: [{ port: 'metrics', path: '/metrics' }] })
    for (const service of all) {
      const { ports } = cluster.container(service).container
      const { containerPort } = ports.find(({ name }: Manifest) => name === 'metrics')
      t.equal(String(containerPort), environmentOf(service).OTEL_EXPORTER_PROMETHEUS_PORT)
    }
  })

  t.test('Prometheus finds PostgreSQL and NATS, on a port that they have', async (t) => {
    const monitored = (name: string) => cluster.find('PodMonitor', name)?.spec
    t.same(podsOf(cluster, monitored('postgres').selector), ['postgres'])
    t.same(podsOf(cluster, monitored('nats').selector), ['nats'])
    // CloudNativePG calls the port of its exporter so.
    t.same(portsOf(monitored('postgres')), ['metrics'])
    for (const port of portsOf(monitored('nats'))) t.ok(cluster.ports('nats').some(({ name }) => name === port))
    const exporter = cluster.containers.find(
      ({ workload, container }) => workload.metadata.name === 'nats' && /nats-exporter:/.test(container.image),
    )
    const { containerPort } = cluster
      .container('nats')
      .container.ports.find(({ name }: Manifest) => name === 'monitoring')
    for (const argument of ['-varz', '-jsz=all', '-prefix=nats', `http://localhost:${containerPort}/`])
      t.ok(exporter?.container.args.includes(argument), argument)
  })

  t.test('the public address is asked for what anybody may read', async (t) => {
    const { targets, module, jobName } = cluster.find('Probe', 'public-address').spec
    t.same(targets.staticConfig.static, [`${environmentOf('gateway').PUBLIC_BASE_URL}/docs`])
    t.same([module, jobName], ['http_2xx', 'public-address'])
  })

  t.test('the console is asked as a person comes, and so is the sign-in that it begins', async (t) => {
    const { CONSOLE_URL } = environmentOf('console')
    for (const [name, path] of [
      ['console-address', '/cli'],
      ['console-sign-in', '/login'],
    ] as const) {
      const { targets, module, jobName } = cluster.find('Probe', name).spec
      t.same(targets.staticConfig.static, [`${CONSOLE_URL}${path}`])
      t.same([module, jobName], ['http_2xx', name])
    }
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

t.test('production elsewhere', { skip }, async (t) => {
  const deploy = copyOfDeploy(t.testdir())
  const set = (file: string, from: string, to: string) => {
    const path = join(deploy, 'k8s/overlays/production', file)
    const text = readFileSync(path, 'utf8')
    t.ok(text.includes(from), from)
    writeFileSync(path, text.replace(from, to))
  }
  set('monitoring.env', 'PROMETHEUS_RELEASE=kube-prometheus-stack', 'PROMETHEUS_RELEASE=observability')
  set('monitoring.env', 'https://docs.backoffice.example/operations.md', 'https://wiki.bank.example/oncall/operations')
  set('values.env', 'API_HOST=api.backoffice.example', 'API_HOST=api.bank.example')
  set('values.env', 'CONSOLE_HOST=console.backoffice.example', 'CONSOLE_HOST=office.bank.example')
  const kustomize = kustomizeCommand()
  if (kustomize === null) return t.fail('kubectl 1.27 or newer, or kustomize 5, is needed')
  const cluster = new Cluster(render(kustomize, deploy, 'production'))
  const monitoring = cluster.manifests.filter(({ apiVersion }) => apiVersion.startsWith('monitoring.coreos.com/'))

  t.test('everything that Prometheus must find has the label that it selects', async (t) => {
    const kinds = new Set(monitoring.map(({ kind }) => kind))
    t.same([...kinds].sort(), ['PodMonitor', 'Probe', 'PrometheusRule'])
    for (const { kind, metadata } of monitoring) t.equal(metadata.labels.release, 'observability', kind)
  })

  t.test('Grafana finds the dashboard by its label', async (t) => {
    const { metadata, data } = cluster.find('ConfigMap', 'dashboard')
    t.equal(metadata.labels?.grafana_dashboard, '1')
    t.equal(JSON.parse(data['dashboard.json']).uid, 'backoffice')
  })

  t.test('nothing is too large for kubectl apply, which keeps a copy in an annotation', async (t) => {
    for (const manifest of cluster.manifests)
      t.ok(JSON.stringify(manifest).length < 256 * 1024, `${manifest.kind} ${manifest.metadata.name}`)
  })

  t.test('an alert links to the guide where it is read, at its own section', async (t) => {
    const alerts = cluster
      .all('PrometheusRule')
      .flatMap(({ spec }) => spec.groups)
      .flatMap(({ rules }) => rules)
      .filter(({ alert }) => alert !== undefined)
    t.ok(alerts.length > 60)
    for (const { alert, annotations } of alerts)
      t.equal(annotations.runbook_url, `https://wiki.bank.example/oncall/operations#${alert.toLowerCase()}`)
  })

  t.test('the probe asks the address that operators are given', async (t) => {
    t.same(cluster.find('Probe', 'public-address')?.spec.targets.staticConfig.static, [
      'https://api.bank.example/api/v1/docs',
    ])
  })

  t.test('and the probes of the console the address that the team is given', async (t) => {
    for (const [name, path] of [
      ['console-address', 'cli'],
      ['console-sign-in', 'login'],
    ] as const)
      t.same(cluster.find('Probe', name)?.spec.targets.staticConfig.static, [`https://office.bank.example/${path}`])
  })

  t.test('what these settings are written in is not applied itself', async (t) => {
    t.notOk(cluster.all('ConfigMap').some(({ metadata }) => metadata.name.startsWith('monitoring-settings')))
  })
})

const portsOf = ({ podMetricsEndpoints }: Manifest): readonly string[] =>
  podMetricsEndpoints.map(({ port }: Manifest) => port)

/** A size as Kubernetes or PostgreSQL writes it; PostgreSQL's MB and GB are powers of two. */
function bytes(size: string): number {
  const [, number = '', unit = ''] = /^(\d+)(Mi|Gi|MB|GB)$/.exec(size) ?? []
  const power = { M: 20, G: 30 }[unit[0] ?? '']
  if (power === undefined) throw new Error(`not a size: ${size}`)
  return Number(number) * 2 ** power
}
