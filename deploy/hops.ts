// What a request and a failover pass, how many there are of each, and for how long somebody waits when one goes: the table
// of deploy/k8s/README.md. The counts are those of the overlays and of install.sh (else of the charts: one).
import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import { withRows } from './tables.ts'

const read = (file: string) => readFileSync(new URL(`k8s/${file}`, import.meta.url), 'utf8')
const documents = (file: string) => parseAllDocuments(read(file)).map((document) => document.toJS())

/** Seconds that others decide. The last two are reckoned, not measured. */
const kubernetes = {
  /** Until a machine that is gone counts as lost: node-monitor-grace-period, since 1.32. */
  noticed: 50,
  /** From then on until its pods are made anew. */
  tolerated: 300,
  /** Until another takes over: leader-lease-duration of CloudNativePG, and of controller-runtime. */
  lease: 15,
  start: 30,
  promotion: 10,
}
const { noticed, tolerated, lease, start, promotion } = kubernetes

const values = (size: string, name: string) =>
  Number(new RegExp(`^${name}=(\\d+)$`, 'm').exec(read(`overlays/${size}/values.env`))?.[1])
const inFile = (file: string, kind: string) => documents(file).find((document) => document.kind === kind).spec
const connectSeconds = Number.parseInt(
  inFile('components/gateway-api/envoy/envoy.yaml', 'BackendTrafficPolicy').timeout.tcp.connectTimeout,
  10,
)

const [, installer = ''] = read('prerequisites/install.sh').split('\ninstall() {\n')
/** How a part is installed. */
const partOf = (name: string) => new RegExp(`^    ${name}\\)\\n(.*?)^      ;;$`, 'ms').exec(installer)?.[1] ?? ''
const installed = (name: string) => Number(/ (?:replicaCount|deployment\.replicas)=(\d+)/.exec(partOf(name))?.[1] ?? 1)
/** How long it waits before it is made anew, by the tolerations that install.sh gives it. */
const toleratedBy = (name: string) =>
  partOf(name).includes('tolerations=$soon')
    ? Number(/"tolerationSeconds":(\d+)/.exec(read('prerequisites/install.sh'))?.[1])
    : tolerated

interface Hop {
  readonly part: string
  /** In standard or production. */
  readonly count: (size: string) => number
  readonly ended: string
  readonly lost: string
}

const service = (name: string): Pick<Hop, 'count'> => ({
  count: (size) => values(size, `${name.toUpperCase()}_REPLICAS`),
})
const others = ['players', 'wallet', 'payments', 'webhooks']
const failover = noticed + toleratedBy('barman-cloud') + start + promotion

export const hops: readonly Hop[] = [
  {
    part: 'Envoy',
    ...service('envoy'),
    ended: '0',
    lost: `its connections: ${noticed} s at most, by the load balancer's check`,
  },
  { part: 'gateway', ...service('gateway'), ended: '0', lost: `${connectSeconds} s, then Envoy takes another` },
  {
    part: 'each other service',
    count: (size) => Math.min(...others.map((name) => service(name).count(size))),
    ended: '0',
    lost: 'seconds: calls are sent again',
  },
  {
    part: 'NATS',
    count: () => inFile('base/nats.yaml', 'StatefulSet').replicas,
    ended: '0',
    lost: 'seconds: clients connect to another',
  },
  {
    part: 'PostgreSQL',
    count: () => inFile('components/postgres/postgres.yaml', 'Cluster').instances,
    ended: `primary: ${promotion} s; standby: 0`,
    lost: `primary: ${noticed + promotion} s, with the plugin there ${failover} s; standby: 0`,
  },
  {
    part: 'CloudNativePG, which promotes',
    count: () => installed('cloudnative-pg'),
    ended: '0',
    lost: `0: another leads after ${lease} s`,
  },
  {
    part: 'its plugin, which it needs for that',
    count: () => installed('barman-cloud'),
    ended: `a failover, ${start} s`,
    lost: `a failover, ${noticed + toleratedBy('barman-cloud') + start} s`,
  },
  {
    part: 'Envoy Gateway',
    count: () => installed('envoy-gateway'),
    ended: '0',
    lost: `0: another leads after ${lease} s`,
  },
  {
    part: 'cert-manager; External Secrets',
    count: () => installed('cert-manager'),
    ended: '0',
    lost: `what is applied: ${noticed + tolerated + start} s`,
  },
]

export const renderHops = (): string =>
  withRows(
    read('README.md'),
    'part | standard | production | one ends, or its machine is drained | its machine is lost',
    hops.map(
      ({ part, count, ended, lost }) =>
        `| ${part} | ${count('standard')} | ${count('production')} | ${ended} | ${lost} |`,
    ),
  )
