// proof: runs the script that installs what belongs to others. It changes with deploy/k8s/prerequisites alone.

import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { arrowsOf } from './arrows.ts'
import { rendered, skip } from './cluster.ts'
import { deployFolder, documentsIn, type Manifest } from './kustomize.ts'
import { kindOf, published } from './transitions.ts'

const folder = join(deployFolder, 'k8s/prerequisites')
const read = (file: string) => readFileSync(join(folder, file), 'utf8')
const written = (file: string): readonly Manifest[] => documentsIn(read(file))

/** Helm and kubectl stand in for themselves: each notes what it is asked. */
const dir = t.testdir({ bin: {}, k8s: { prerequisites: {} }, telemetry: {} })
for (const program of ['helm', 'kubectl']) {
  const file = join(dir, 'bin', program)
  const answer =
    program === 'kubectl'
      ? `case "$*" in *'get secret'*) cat '${dir}/key' ;; *'get storageclass'*) cat '${dir}/binding' ;; esac`
      : ''
  writeFileSync(file, `#!/bin/sh\necho "${program} $*" >> '${dir}/asked'\n${answer}\n`)
  chmodSync(file, 0o755)
}
const receivers = join(dir, 'telemetry/alertmanager.yaml')
cpSync(folder, join(dir, 'k8s/prerequisites'), { recursive: true })
cpSync(join(deployFolder, 'telemetry/alertmanager.yaml'), receivers)
/** What the Secret of the pager has. */
const pagerKey = (value: string) => writeFileSync(join(dir, 'key'), value)
pagerKey('')
const volumesAreMade = (mode: string) => writeFileSync(join(dir, 'binding'), mode)
volumesAreMade('Immediate')
/** Writes what an installation has in the place of the example. */
function writeOwn(file: string): void {
  const path = join(dir, 'k8s/prerequisites', file)
  writeFileSync(path, readFileSync(path, 'utf8').replaceAll('example', 'casa-azul'))
}
const looks = / get (?:secret|storageclass) /
const ofKubernetes =
  /^(apps|batch|autoscaling|policy|(networking|rbac.authorization|admissionregistration|scheduling)\.k8s\.io)$/

function install(...parts: readonly string[]) {
  rmSync(join(dir, 'asked'), { force: true })
  writeFileSync(join(dir, 'asked'), '')
  const env = { ...process.env, PATH: `${join(dir, 'bin')}:${process.env.PATH}` }
  const { status, stderr } = spawnSync('sh', [join(dir, 'k8s/prerequisites/install.sh'), ...parts], {
    encoding: 'utf8',
    env,
  })
  const calls = readFileSync(join(dir, 'asked'), 'utf8').split('\n').filter(Boolean)
  const charts = calls.flatMap((call) => {
    const [, name = '', chart = '', version = '', namespace = ''] =
      /^helm upgrade --install (\S+) (\S+) --version (\S+) --namespace (\S+)/.exec(call) ?? []
    return name === '' ? [] : [{ name, chart, version, namespace, call }]
  })
  return { status, stderr, calls, charts, parts: [...stderr.matchAll(/^== (\S+)$/gm)].map(([, part = '']) => part) }
}

/** What is missing, and what it says then: nothing is installed. The next line has it. */
const missing: readonly (readonly [what: string, says: string, make: () => void])[] = [
  ['your own issuer', 'issuer.yaml is still the example', () => writeOwn('issuer.yaml')],
  ['a storage class that waits for the pod', 'WaitForFirstConsumer', () => volumesAreMade('WaitForFirstConsumer')],
  ['your own pager', 'alertmanager.yaml is still the example', () => writeOwn('../../telemetry/alertmanager.yaml')],
  ['its key', 'create secret generic pager --from-file=routing-key', () => pagerKey('a2V5')],
  ['your own vault', 'secret-stores.yaml is still the example', () => writeOwn('secret-stores.yaml')],
]
for (const [what, says, make] of missing)
  t.test(`without ${what} nothing is installed`, async (t) => {
    const { status, stderr, calls } = install('production')
    t.equal(status, 1)
    t.match(stderr, says)
    t.same(
      calls.filter((call) => !looks.test(call)),
      [],
    )
    make()
  })

t.test('a part that is unknown installs nothing', async (t) => {
  const { status, stderr, calls } = install('cert-manager', 'cert-manger')
  t.equal(status, 1)
  t.match(stderr, 'no part is called cert-manger')
  t.same(calls, [])
})

t.test('each size is a part of the next, in one order, whatever the order that is asked for', async (t) => {
  const sizes = ['small', 'standard', 'production'].map((size) => install(size).parts.filter((part) => part !== 'done'))
  t.ok(sizes.every((parts) => parts.length >= 2))
  const [small = [], standard = [], production = []] = sizes
  t.same(
    production.filter((part) => standard.includes(part)),
    standard,
  )
  t.same(
    standard.filter((part) => small.includes(part)),
    small,
  )
  t.same(install('external-secrets', 'metrics-server').parts, ['metrics-server', 'external-secrets', 'done'])
  const before = (first: string, then: string) =>
    t.ok(production.indexOf(first) < production.indexOf(then), `${first}, ${then}`)
  before('gateway-api', 'envoy-gateway')
  before('cert-manager', 'trust-manager')
  before('cert-manager', 'issuer')
  before('cert-manager', 'barman-cloud')
  before('cloudnative-pg', 'barman-cloud')
  before('external-secrets', 'secret-stores')
})

t.test('every chart and every file from elsewhere has one version', async (t) => {
  const { charts, calls } = install('production')
  t.equal(charts.length, 9)
  for (const { name, version } of charts) t.match(version, /^v?\d+\.\d+\.\d+$/, name)
  for (const call of calls.filter((each) => /https:\/\/github/.test(each)))
    t.match(call, /\/download\/v\d+\.\d+\.\d+\//)
  t.equal(
    calls.filter((call) => call.startsWith('helm template')).every((call) => /--version v\d/.test(call)),
    true,
  )
})

t.test('what production’s manifests name is what the prerequisites make', { skip }, async (t) => {
  const cluster = rendered('production')
  const { charts, calls } = install('production')
  const release = (name: string) => charts.find((chart) => chart.name === name)

  t.test('each kind of somebody else’s has its controller, in each size', async (t) => {
    const part: Readonly<Record<string, string>> = {
      'cert-manager.io': 'cert-manager',
      'trust.cert-manager.io': 'trust-manager',
      'postgresql.cnpg.io': 'cloudnative-pg',
      'barmancloud.cnpg.io': 'barman-cloud',
      'external-secrets.io': 'external-secrets',
      'gateway.envoyproxy.io': 'envoy-gateway',
      'gateway.networking.k8s.io': 'gateway-api',
      'monitoring.coreos.com': 'monitoring',
    }
    for (const size of ['small', 'standard', 'production'] as const) {
      const { parts } = install(size)
      const groups = rendered(size).manifests.map(({ apiVersion }) => String(apiVersion).split('/'))
      const others = groups.flatMap(([group = '', version]) => (version && !ofKubernetes.test(group) ? [group] : []))
      for (const group of new Set(others)) t.ok(parts.includes(part[group] ?? ''), `${size}: ${group}`)
    }
  })

  t.test('the namespaces of the network policies are those of the releases', async (t) => {
    const namespaces = new Set(charts.map(({ namespace }) => namespace))
    const others = arrowsOf(cluster).open.flatMap((arrow) => [...arrow.matchAll(/([a-z-]+)\/[a-z]/g)])
    const named = new Set(others.map(([, namespace = '']) => namespace))
    t.ok(named.size >= 4)
    for (const namespace of named) t.ok(namespaces.has(namespace), namespace)
  })

  t.test('the way in: a class of Envoy Gateway, which takes patches', async (t) => {
    const [{ metadata, spec }] = written('gateway-class.yaml') as [Manifest]
    t.equal(cluster.find('Gateway', 'edge').spec.gatewayClassName, metadata.name)
    t.equal(spec.controllerName, 'gateway.envoyproxy.io/gatewayclass-controller')
    t.ok(calls.some((call) => call.startsWith('kubectl apply') && call.endsWith('gateway-class.yaml')))
    t.ok(cluster.all('EnvoyPatchPolicy').length > 0)
    t.match(release('envoy-gateway')?.call, 'extensionApis.enableEnvoyPatchPolicy=true')
    t.match(release('envoy-gateway')?.call, 'runtimeFlags.enabled={XDSNameSchemeV2}', 'whose names the patch has')
  })

  t.test('certificates: their issuers, and the namespace of the authority', async (t) => {
    const issuers = [...written('issuer.yaml'), ...cluster.all('ClusterIssuer')].map(({ metadata }) => metadata.name)
    for (const { metadata, spec } of cluster.all('Certificate'))
      if (spec.issuerRef.kind === 'ClusterIssuer') t.ok(issuers.includes(spec.issuerRef.name), metadata.name)
    const [{ solvers }] = written('issuer.yaml').map(({ spec }) => spec.acme) as [Manifest]
    t.ok(
      solvers.every(({ dns01 }: Manifest) => dns01),
      'the console may be out of reach from outside',
    )
    const { namespace } = cluster.find('Certificate', 'backoffice-authority').metadata
    t.match(release('trust-manager')?.call, `app.trust.namespace=${namespace}`)
    t.equal(release('cert-manager')?.namespace, namespace, 'where a ClusterIssuer reads its Secret')
  })

  t.test('secrets: each store serves the namespaces that ask it', async (t) => {
    const stores = new Map(written('secret-stores.yaml').map(({ metadata, spec }) => [metadata.name, spec.conditions]))
    for (const { metadata, spec } of cluster.all('ExternalSecret')) {
      const [{ namespaces = [] } = {}] = stores.get(spec.secretStoreRef.name) ?? []
      t.ok(namespaces.includes(metadata.namespace), metadata.name)
    }
  })

  t.test('metrics: the label that is selected by, the prober, and what the alerts read of others', async (t) => {
    const monitors = ['PodMonitor', 'Probe', 'PrometheusRule'].flatMap((kind) => cluster.all(kind))
    for (const { metadata } of monitors) t.ok(release(metadata.labels.release), metadata.name)
    for (const { spec } of cluster.all('Probe')) {
      const { call = '', namespace } = release('blackbox-exporter') ?? {}
      const [, name] = /fullnameOverride=(\S+)/.exec(call) ?? []
      t.equal(spec.prober.url, `${name}.${namespace}:9115`)
    }
    const values = parse(read('monitoring.yaml'))
    const { configSecret, secrets } = values.alertmanager.alertmanagerSpec
    t.ok(calls.some((call) => call.includes(`create secret generic ${configSecret}`)))
    const route = readFileSync(join(deployFolder, 'telemetry/alertmanager.yaml'), 'utf8')
    for (const [, secret] of route.matchAll(/\/etc\/alertmanager\/secrets\/([\w-]+)\//g)) t.ok(secrets.includes(secret))
    const { label } = values.grafana.sidecar.dashboards
    t.ok(cluster.find('ConfigMap', 'dashboard').metadata.labels[label])
    for (const { name, namespaceSelector } of values.prometheus.additionalPodMonitors)
      t.same(namespaceSelector.matchNames, [release(name)?.namespace])
  })
})

t.test('what a request or a failover passes is never one, nor drained as one', { skip }, async (t) => {
  for (const name of ['cloudnative-pg', 'envoy-gateway']) {
    const { call = '' } = install('production').charts.find((chart) => chart.name === name) ?? {}
    t.ok(Number(/ (?:replicaCount|deployment\.replicas)=(\d+)/.exec(call)?.[1]) >= 2, name)
  }
  for (const size of ['standard', 'production'] as const) {
    const { envoyDeployment, envoyPDB } = rendered(size).find('EnvoyProxy', 'edge').spec.provider.kubernetes
    t.ok(envoyDeployment.replicas >= 2 && envoyPDB, size)
    const spread = { topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'DoNotSchedule' }
    t.match(envoyDeployment.pod.topologySpreadConstraints, [spread])
  }
})

t.test('the rules that judge changes are those of the versions that are installed', async (t) => {
  const script = read('install.sh')
  for (const publisher of Object.keys(published)) {
    const [name = '', version = ''] = publisher.split(' ')
    // Its last patch is not published where the rules were taken; no version has a rule that compares.
    if (!name.startsWith('prometheus-operator/')) t.ok(script.includes(version.replace('v', '')), publisher)
  }
  const judged = new Set(Object.values(published).flatMap((kinds) => Object.keys(kinds)))
  const all = skip ? [] : rendered('production').manifests
  const applied = all.filter(
    ({ apiVersion }) => apiVersion.includes('/') && !ofKubernetes.test(apiVersion.split('/')[0]),
  )
  for (const manifest of applied) t.ok(judged.has(kindOf(manifest)), kindOf(manifest))
})

t.test('pods are refused by the rules of the oldest Kubernetes that the prerequisites take', { skip }, async (t) => {
  const [, oldest] = /take Kubernetes (1\.\d+) to/.exec(read('install.sh')) ?? []
  const { labels } = rendered('production').find('Namespace', 'backoffice').metadata
  t.equal(labels['pod-security.kubernetes.io/enforce-version'], `v${oldest}`)
})

t.test('the key of the bucket puts, gets and lists, and can end no lock', async (t) => {
  const policy = execFileSync('sh', [join(folder, 'heads-bucket.sh'), 'policy', 'backoffice-heads'], {
    encoding: 'utf8',
  })
  const { Statement } = JSON.parse(policy)
  t.same(Statement.flatMap(({ Action }: Manifest) => Action).sort(), ['s3:GetObject', 's3:ListBucket', 's3:PutObject'])
  for (const { Effect, Resource } of Statement)
    t.match(`${Effect} ${Resource}`, /^Allow arn:aws:s3:::backoffice-heads(\/\*)?$/)
  const script = read('heads-bucket.sh')
  t.match(script, '--object-lock-enabled-for-bucket')
  t.match(script, 'COMPLIANCE')
})
