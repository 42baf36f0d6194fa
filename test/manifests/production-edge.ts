import { allOperations, bodyBytesMax } from '@backoffice/contracts'
import ipaddr from 'ipaddr.js'
import type { Test } from 'tap'
import { arrowsOf } from './arrows.ts'
import type { Manifest } from './kustomize.ts'
import type { Production } from './production-cluster.ts'
import { rendered } from './rendered.ts'

const prefix = 'nginx.ingress.kubernetes.io/'
const longestMs = Math.max(...allOperations.map(({ timeoutMs }) => timeoutMs ?? 0))

/** The ways in: what a proxy does to a request, and by which names it is reached. */
export function edgeTests(t: Test, { cluster, environmentOf, namesOn }: Production): void {
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
    t.same([...new Set(listeners.map(({ port }: Manifest) => `tcp-${port}`))], [patch.jsonPatches[0].name])

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

  t.test('with the component for ingress-nginx the same holds of its Ingress', async (t) => {
    const instead = (text: string) => text.replace('components/gateway-api', 'components/ingress-nginx')
    const legacy = rendered('production', { 'overlays/production/kustomization.yaml': instead })
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

  t.test('one hop is believed: a range that is nobody’s until an installation writes its own', async (t) => {
    const trusted = (environmentOf('gateway').TRUSTED_PROXIES ?? '').split(',')
    for (const name of ['games', 'console'])
      t.same((environmentOf(name).TRUSTED_PROXIES ?? '').split(','), trusted, name)
    t.equal(trusted.length, 1)
    t.equal(ipaddr.parseCIDR(trusted[0] ?? '')[0].range(), 'reserved', 'TEST-NET of RFC 5737')
  })
}
