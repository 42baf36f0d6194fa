// proof: reads what production has besides its programs: backends, edge, monitoring. They change with deploy/ alone.

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { alerts, fragmentOf } from '../telemetry/files.ts'
import { arrowsOf, podsOf } from './arrows.ts'
import { deployFolder, type Manifest } from './kustomize.ts'
import { backendTests } from './production-backends.ts'
import { all, productionOf, programs } from './production-cluster.ts'
import { edgeTests } from './production-edge.ts'
import { rendered, skip, withSettings } from './rendered.ts'

t.test('production', { skip }, async (t) => {
  const production = productionOf(rendered('production'))
  const { cluster, environmentOf, namesOn } = production

  backendTests(t, production)
  edgeTests(t, production)

  t.test('everything runs at least twice, and one eviction at a time is allowed', async (t) => {
    // One reconciler is enough: it does one thing at a time, and nobody waits for it.
    for (const service of programs.filter((name) => name !== 'reconciler')) {
      const { spec } = cluster.find('HorizontalPodAutoscaler', service)
      t.ok(spec.minReplicas >= 2)
      t.same(spec.scaleTargetRef, { apiVersion: 'apps/v1', kind: 'Deployment', name: service })
      // By what it uses, and far above the 0.3 of a core that a hundred requests a second need.
      t.match(spec.metrics, [
        { resource: { name: 'cpu', target: { type: 'AverageValue', averageValue: /^[5-8]\d\dm$/ } } },
      ])
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

  t.test('every connection is verified against our own authority, under a name of the certificate', async (t) => {
    for (const service of all) {
      const { NATS_CA_FILE, DATABASE_CA_FILE, OTEL_EXPORTER_OTLP_CERTIFICATE, ...environment } = environmentOf(service)
      t.equal(NATS_CA_FILE === undefined, service === 'games')
      t.equal(DATABASE_CA_FILE === undefined, service === 'console')
      const mounts = cluster.container(service).container.volumeMounts.map(({ mountPath }: Manifest) => mountPath)
      for (const file of [NATS_CA_FILE, DATABASE_CA_FILE, OTEL_EXPORTER_OTLP_CERTIFICATE])
        if (file !== undefined) t.ok(mounts.includes(join(file, '..')), `${service}: ${file}`)
      t.ok(OTEL_EXPORTER_OTLP_CERTIFICATE)
      for (const url of [environment.DATABASE_URL, environment.RECONCILE_DATABASE_URL])
        if (url !== undefined) t.ok(namesOn('postgres').includes(new URL(url).hostname))
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

  t.test(
    'a Job has its release in its name, goes by itself, and is made anew by what applies it from git',
    async (t) => {
      const version = /:([^@]+)/.exec(cluster.container('migrate').container.image)?.[1]
      const jobs = cluster.all('Job')
      t.same(jobs.map(({ metadata }) => metadata.name).sort(), [
        `migrate-${version}`,
        ...[...all, 'database'].map((name) => `preflight-${name}-${version}`).sort(),
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
        cluster.all('Job').map((job) => [job.metadata.labels['app.kubernetes.io/component'], wave(job)]),
      )
      t.same(jobs, { preflight: 1, migration: 2 })
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
    t.same(
      secrets.map(({ metadata }) => metadata.namespace),
      ['backoffice'],
    )
    for (const { spec } of secrets) t.equal(spec.target.template.type, 'kubernetes.io/dockerconfigjson')
  })

  t.test('Prometheus finds the metrics of everything under its name', async (t) => {
    const { spec } = cluster.find('PodMonitor', 'services')
    // The preflight Jobs have the services' component, and no such port.
    const measured = podsOf(cluster, spec.selector).filter((name) => !name.startsWith('preflight-'))
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
    for (const argument of [
      '-varz',
      '-connz_detailed',
      '-jsz=all',
      '-prefix=nats',
      `http://localhost:${containerPort}/`,
    ])
      t.ok(exporter?.container.args.includes(argument), argument)
  })

  t.test('a stranger to NATS is whoever is no pod that has a password for it', async (t) => {
    const { expr } = alerts('platform-alerts.yaml').find(({ alert }) => alert === 'NatsStranger') ?? { expr: '' }
    const [, known = ''] = /pod=~"\((.+?)\)-\.\+"/.exec(expr) ?? []
    const speaking = cluster.containers.filter(
      ({ pod, container }) => pod.volumes && container.env?.some(({ name }: Manifest) => name === 'NATS_PASSWORD_FILE'),
    )
    t.same(known.split('|').sort(), speaking.map(({ name }) => name).sort())
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
      ['console-sign-in', '/login/probe'],
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

t.test('production elsewhere, while its public names move from one way in to the other', { skip }, async (t) => {
  const cluster = rendered('production', {
    'overlays/production/kustomization.yaml': (text) =>
      text.replace(/^( *- .*components\/)gateway-api$/m, '$&\n$1ingress-nginx'),
    'overlays/production/monitoring.env': withSettings({
      PROMETHEUS_RELEASE: 'observability',
      ALERTS_GUIDE_URL: 'https://wiki.bank.example/oncall/alerts',
    }),
    'overlays/production/values.env': withSettings({
      API_HOST: 'api.bank.example',
      CONSOLE_HOST: 'office.bank.example',
    }),
  })
  const monitoring = cluster.manifests.filter(({ apiVersion }) => apiVersion.startsWith('monitoring.coreos.com/'))

  t.test('both ways in stand side by side', async (t) => {
    const { open } = arrowsOf(cluster)
    for (const proxy of ['envoy-gateway-system/envoy', 'ingress-nginx/ingress-nginx'])
      for (const to of ['gateway:8080', 'games:8082', 'console:8083']) t.ok(open.includes(`${proxy} → ${to}`), proxy)
  })

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
    const linked = cluster
      .all('PrometheusRule')
      .flatMap(({ spec }) => spec.groups)
      .flatMap(({ rules }) => rules)
      .filter(({ alert }) => alert !== undefined)
    t.ok(linked.length > 60)
    for (const { alert, annotations } of linked)
      t.equal(annotations.runbook_url, `https://wiki.bank.example/oncall/alerts#${fragmentOf(alert)}`)
  })

  t.test('what these settings are written in is not applied itself', async (t) => {
    t.notOk(cluster.all('ConfigMap').some(({ metadata }) => metadata.name.startsWith('monitoring-settings')))
  })
})

const portsOf = ({ podMetricsEndpoints }: Manifest): readonly string[] =>
  podMetricsEndpoints.map(({ port }: Manifest) => port)
