import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { parse } from 'yaml'
import { alerts } from '../telemetry/files.ts'
import { podsOf } from './arrows.ts'
import { deployFolder, type Manifest } from './kustomize.ts'
import { all, type Production } from './production-cluster.ts'

/** What Prometheus measures, asks for and is told to judge. */
export function monitoringTests(t: Test, { cluster, environmentOf }: Production): void {
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
}

const portsOf = ({ podMetricsEndpoints }: Manifest): readonly string[] =>
  podMetricsEndpoints.map(({ port }: Manifest) => port)
