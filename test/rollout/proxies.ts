import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@backoffice/dev-stack'
import { eventually, startProcess, type Teardown, temporaryFolder, toolPath } from '@backoffice/test-kit'
import type { Ports } from './fleet.ts'

/** Runs a proxy in the foreground with a configuration of its own until the test ends, and waits until it listens. */
export async function startProxy(
  t: Teardown,
  { program, configuration, port }: { program: 'haproxy' | 'nginx'; configuration: string; port: number },
): Promise<void> {
  // Its workers run as somebody else, and buffer bodies here.
  const dir = temporaryFolder(t)
  const file = join(dir, `${program}.conf`)
  writeFileSync(file, configuration.replaceAll('@DIR@', dir))
  const args = program === 'haproxy' ? ['-db', '-f', file] : ['-p', dir, '-c', file, '-g', 'daemon off;']
  const env = { ...process.env, PATH: toolPath }
  const { until } = startProcess(t, [program, ...args], { env, endsBy: 'SIGTERM' })
  // Any answer will do, its own 503 included.
  await until(async () => (await fetch(`http://127.0.0.1:${port}/`).catch(() => null)) !== null)
}

export interface LoadBalancer {
  readonly port: number
  /** Waits until exactly these places are in service. */
  serves(places: readonly Ports[]): Promise<void>
}

/**
 * In front of the gateway, as a load balancer that knows the places where replicas may be: it asks /readyz of each, and
 * repeats no request that was sent.
 */
export async function startLoadBalancer(t: Teardown, places: readonly Ports[]): Promise<LoadBalancer> {
  const [port, statusPort] = [await freePort(), await freePort()]
  const servers = places.map(({ port, healthPort }) => `  server at-${port} 127.0.0.1:${port} port ${healthPort}`)
  const configuration = `
defaults
  mode http
  timeout connect 2s
  timeout client 30s
  timeout server 30s
  timeout check 10s
  option redispatch
  retries 2
  retry-on conn-failure
frontend api
  bind 127.0.0.1:${port}
  default_backend gateways
backend gateways
  balance roundrobin
  option httpchk GET /readyz
  default-server check inter 100ms fall 1 rise 1
${servers.join('\n')}
listen status
  bind 127.0.0.1:${statusPort}
  stats enable
  stats uri /
`
  await startProxy(t, { program: 'haproxy', configuration, port })
  return {
    port,
    serves: async (wanted) => {
      const expected = wanted.map(({ port }) => `at-${port}`).toSorted()
      await eventually(async () => {
        const answer = await fetch(`http://127.0.0.1:${statusPort}/;csv`)
        const up = (await answer.text()).matchAll(/^gateways,(at-\d+),.*?,(?:UP|DOWN[^,]*),/gm)
        const names = [...up].filter(([line]) => line.endsWith(',UP,')).map(([, name]) => name)
        return names.toSorted().join() === expected.join()
      })
    },
  }
}
