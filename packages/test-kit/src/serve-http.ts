import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Teardown } from './test-bed.ts'

/** Serves on a free port of loopback until `t` ends. @returns the address, without a path */
export async function serveHttp(t: Teardown, answer: RequestListener): Promise<string> {
  const server = createServer(answer)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
