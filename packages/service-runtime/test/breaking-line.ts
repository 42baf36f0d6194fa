import { type AddressInfo, connect, createServer } from 'node:net'
import type { Teardown } from '@backoffice/test-kit'

/** What becomes of bytes: they are passed on, they arrive nowhere, or the connection breaks. */
type Fate = 'pass' | 'lose' | 'break'

/**
 * A line to PostgreSQL that fails as a test says. It ends with `t`.
 * @returns the URL over it
 */
export async function breakingLine(
  t: Teardown,
  { to, fate }: { readonly to: string; readonly fate: (chunk: Buffer, from: 'client' | 'server') => Fate },
): Promise<string> {
  const url = new URL(to)
  const { hostname: host, port } = url
  const proxy = createServer((client) => {
    const server = connect(Number(port), host)
    for (const [from, source, target] of [
      ['client', client, server],
      ['server', server, client],
    ] as const) {
      source.on('data', (chunk: Buffer) => {
        const becomes = fate(chunk, from)
        if (becomes === 'pass') target.write(chunk)
        else if (becomes === 'break') client.destroy()
      })
      source.on('error', () => {}).on('close', () => target.destroy())
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.teardown(() => proxy.close())
  url.port = String((proxy.address() as AddressInfo).port)
  return url.href
}
