import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { serviceNames } from '@backoffice/contracts'
import ipaddr from 'ipaddr.js'
import t from 'tap'
import { arrowsOf, namespacesThatRefuse, podsOf } from './arrows.ts'
import { Cluster, rendered, skip } from './cluster.ts'
import { deployFolder, type Manifest, type Overlay, overlays, withOperators } from './kustomize.ts'

const arrows = (from: readonly string[], to: readonly string[]) =>
  from.flatMap((source) => to.map((target) => `${source} → ${target}`))

/** Where there is enough to run, providers of games have processes of their own. */
const servicesOf = (overlay: Overlay) => [...serviceNames, ...(withOperators.includes(overlay) ? ['providers'] : [])]
const programsOf = (overlay: Overlay) => [...servicesOf(overlay), 'games', 'console']

/**
 * Services speak to one another through NATS, so none has an arrow to another one. The games are a provider of games, and reach
 * no port that believes what a proxy says of a caller's address.
 */
const everywhere = (services: readonly string[], programs: readonly string[]): readonly string[] => [
  ...arrows(services, ['nats:4222']),
  ...arrows(
    ['monitoring/prometheus'],
    programs.map((program) => `${program}:9464`),
  ),
  ...arrows(['games'], [services.includes('providers') ? 'providers:8085' : 'gateway:8085']),
  ...arrows(['webhooks', 'players'], ['public addresses:any port']),
  ...arrows(['migrate'], ['nats:4222', 'nats:8222']),
  ...arrows(['streams'], ['nats:4222']),
  // People log in at the identity provider, and whoever verifies them asks for its keys.
  ...arrows([...services, 'console'], ['public addresses:443']),
  ...arrows(['console'], ['nats:4222']),
  ...arrows(['nats'], ['nats:6222']),
]

/** What PostgreSQL's instances do outside of the cluster's pods, its preflight Job tries. */
const leaving = ['postgres', 'preflight-database']
/** They reach the bucket of the heads. */
const withHeads = ['reconciler', 'preflight-reconciler']

const waysIn = ['gateway:8080', 'providers:8084', 'games:8082', 'console:8083']
const waysInOfOne = waysIn.map((way) => way.replace('providers', 'gateway'))

const ofOne = [...serviceNames, 'games', 'migrate']
const clients = [...ofOne, 'providers']
const standard = [
  ...arrows(clients, ['postgres:5432']),
  ...arrows(['envoy-gateway-system/envoy'], waysIn),
  ...arrows(['monitoring/prometheus'], ['nats:7777', 'postgres:9187']),
  // On 8000 an instance asks whether another one is there. A primary that reaches neither that nor the Kubernetes API
  // stops itself.
  ...arrows(['postgres'], ['postgres:5432', 'postgres:8000']),
  ...arrows(leaving, ['private addresses:443', 'private addresses:6443']),
  ...arrows(['cnpg-system/cloudnative-pg'], ['postgres:5432', 'postgres:8000']),
  ...arrows(['reconciler'], ['private addresses:443']),
]
const more: Readonly<Record<Overlay, readonly string[]>> = {
  local: [...arrows(ofOne, ['postgres:5432']), ...arrows(['ingress-nginx/ingress-nginx'], waysInOfOne)],
  small: [...arrows(ofOne, ['private addresses:5432']), ...arrows(['envoy-gateway-system/envoy'], waysInOfOne)],
  standard,
  production: [
    ...standard,
    ...arrows(programsOf('production'), ['collector:4318']),
    ...arrows(['collector'], ['monitoring/otlp-backend:4317']),
    ...arrows(['monitoring/prometheus'], ['collector:8888']),
  ],
}

t.test('network', { skip }, async (t) => {
  for (const overlay of overlays) {
    const cluster = rendered(overlay)
    const programs = programsOf(overlay)
    t.test(`${overlay}: nothing may talk but along the arrows of the picture`, async (t) => {
      t.same(
        namespacesThatRefuse(cluster),
        cluster.all('Namespace').map(({ metadata }) => metadata.name),
      )
      const preflights = new Set(programs.map((program) => `preflight-${program}`))
      const names = arrows(
        cluster.pods.map(({ name }) => name).filter((name) => !preflights.has(name)),
        ['kube-system/kube-dns:53'],
      )
      const { open, halfOpen } = arrowsOf(cluster)
      t.same(halfOpen, [], 'both ends agree')
      const ofOthers = open.filter((arrow) => !arrow.split(/ → |:/).some((end) => preflights.has(end)))
      t.same(ofOthers, [...names, ...everywhere(servicesOf(overlay), programs), ...more[overlay]].sort())
    })

    t.test(`${overlay}: a preflight Job reaches what its workload reaches, and no Service leads to it`, async (t) => {
      const { open } = arrowsOf(cluster)
      const reachedBy = (name: string) =>
        open.filter((arrow) => arrow.startsWith(`${name} → `)).map((arrow) => arrow.slice(name.length))
      for (const program of programs) {
        t.ok(reachedBy(program).length > 1)
        t.same(reachedBy(`preflight-${program}`), reachedBy(program), program)
      }
      for (const kind of ['Service', 'PodDisruptionBudget'])
        for (const { metadata, spec } of cluster.all(kind))
          t.notMatch(
            podsOf(cluster, spec.selector.matchLabels ? spec.selector : { matchLabels: spec.selector }).join(),
            'preflight',
            `${kind} ${metadata.name}`,
          )
    })

    t.test(`${overlay}: a port that may be reached is one that a container has`, async (t) => {
      for (const arrow of arrowsOf(cluster).open) {
        const [, to = '', port] = / → (.*):(\d+)$/.exec(arrow) ?? []
        const ports = cluster.ports(to).map(({ containerPort }) => containerPort)
        // What only reaches others has no ports, and neither has what is not a workload of ours.
        if (ports.length === 0) continue
        t.ok(ports.includes(Number(port)), arrow)
      }
    })

    t.test(
      `${overlay}: no public address is one of a private network, of this machine or of a cloud's control plane`,
      async (t) => {
        const blocks = publicBlocks(cluster)
        t.ok(blocks.length >= 2)
        for (const address of notPublic) t.notOk(isAllowed(blocks, address), address)
        for (const address of ['1.1.1.1', '203.0.114.1', '172.32.0.1', '2606:4700:4700::1111'])
          t.ok(isAllowed(blocks, address), address)
      },
    )

    t.test(`${overlay}: a service's selector and its ports mean pods that have them`, async (t) => {
      for (const { metadata, spec } of cluster.all('Service')) {
        const [name, ...others] = cluster.selected(spec.selector)
        t.same(others, [], metadata.name)
        const ports = cluster.container(name ?? 'nobody').container.ports.map(({ name }: Manifest) => name)
        for (const { targetPort } of spec.ports) t.ok(ports.includes(targetPort), `${metadata.name}: ${targetPort}`)
      }
    })

    t.test(`${overlay}: a way in takes every path of its host to a port of a service`, async (t) => {
      const ingresses = cluster.all('Ingress').flatMap(({ spec }) => spec.rules.map(({ http }: Manifest) => http.paths))
      for (const paths of ingresses) {
        t.same(
          paths.map(({ path, pathType }: Manifest) => [path, pathType]),
          [['/', 'Prefix']],
        )
        const { name, port } = paths[0].backend.service
        const ports = cluster.find('Service', name)?.spec.ports.map(({ name }: Manifest) => name)
        t.ok(ports?.includes(port.name), `${name}: ${port.name}`)
      }
      const routes = cluster.all('HTTPRoute')
      for (const { spec } of routes) {
        t.equal(spec.rules.length, 1)
        const [{ matches, filters, backendRefs }] = spec.rules
        t.same(matches, [{ path: { type: 'PathPrefix', value: '/' } }])
        t.equal(filters, undefined, 'nothing is rewritten')
        const [{ name, port }] = backendRefs
        const ports = cluster.find('Service', name)?.spec.ports.map(({ port }: Manifest) => port)
        t.ok(ports?.includes(port), `${name}: ${port}`)
      }
      t.equal(ingresses.length + routes.length, 4)
    })
  }
})

/** The components for clusters that differ, and what each of them opens. */
const variants: Readonly<Record<string, (names: readonly string[]) => readonly string[]>> = {
  'dns/node-local': (pods) => arrows(pods, ['the resolver of the node:53', 'the resolver of the cloud:53']),
  'dns/openshift': (pods) => arrows(pods, ['openshift-dns/default:5353']),
  'egress/public-endpoints': () => arrows(leaving, ['public addresses:443', 'public addresses:6443']),
  'egress/shared-addresses': () => [
    ...arrows(leaving, ['shared addresses:443', 'shared addresses:6443']),
    ...arrows(withHeads, ['shared addresses:443']),
  ],
  // The reconciler reaches its bucket there already.
  'egress/private-identity-provider': () => {
    const asking = [...servicesOf('production'), 'console'].filter((name) => name !== 'reconciler')
    return arrows([...asking, ...asking.map((name) => `preflight-${name}`)], ['private addresses:443'])
  },
  'egress/port-9000': () => arrows([...leaving, ...withHeads], ['private addresses:9000']),
}

t.test('a component for another kind of cluster opens what it says, and nothing else', { skip }, async (t) => {
  const folder = join(deployFolder, 'k8s/components')
  const there = ['dns', 'egress'].flatMap((kind) => readdirSync(join(folder, kind)).map((name) => `${kind}/${name}`))
  t.same(there.sort(), Object.keys(variants).sort())
  const production = rendered('production')
  const { open: before } = arrowsOf(production)
  const pods = production.pods.map(({ name }) => name)
  for (const [name, opened] of Object.entries(variants)) {
    // The component alone: it adds to what is there, and so does this.
    const alone = { 'overlays/local/kustomization.yaml': () => `components: [../../components/${name}]\n` }
    const added = rendered('local', alone).manifests
    t.ok(added.every(({ kind }) => kind === 'NetworkPolicy'))
    const { open } = arrowsOf(new Cluster([...production.manifests, ...added]))
    t.same(
      open.filter((arrow) => !before.includes(arrow)),
      [...opened(pods)].sort(),
      name,
    )
  }
})

const notPublic = [
  ...['0.0.0.1', '10.1.2.3', '100.64.0.1', '127.0.0.1', '168.63.129.16', '169.254.169.254', '169.254.170.2'],
  ...['172.16.0.1', '172.31.255.255', '192.0.0.192', '192.168.0.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
  ...['::1', '::ffff:10.0.0.1', '64:ff9b::a00:1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'ff02::1'],
  ...['2002:a00:1::', '2001:0:a00:1::'],
]

function publicBlocks(cluster: Cluster): readonly Manifest[] {
  const rules = cluster.all('NetworkPolicy').flatMap(({ spec }) => spec.egress ?? [])
  const blocks = rules.flatMap(({ to }: Manifest) => to).flatMap(({ ipBlock }: Manifest) => ipBlock ?? [])
  return blocks.filter(({ cidr }: Manifest) => !/^(10|172|192)\./.test(cidr))
}

function isAllowed(blocks: readonly Manifest[], text: string): boolean {
  // A policy compares the address as it is written into the packet: a mapped one is IPv6.
  const address = ipaddr.parse(text)
  const isIn = (cidr: string) => {
    const [network, bits] = ipaddr.parseCIDR(cidr)
    return network.kind() === address.kind() && address.match(network, bits)
  }
  return blocks.some(({ cidr, except = [] }) => isIn(cidr) && !except.some(isIn))
}
