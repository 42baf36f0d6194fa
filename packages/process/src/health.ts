import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface HealthServer {
  readonly port: number
  close(): Promise<void>
}

/**
 * /healthz: the process is alive. /readyz: it can serve now. It replies 503 while the process starts, drains, or cannot
 * reach a backend that it needs.
 */
export async function startHealthServer(options: {
  readonly host: string
  readonly port: number
  readonly ready: () => Promise<boolean>
}): Promise<HealthServer> {
  const server = createServer((request, response) => {
    const reply = (status: number, text: string) =>
      response.writeHead(status, { 'Content-Type': 'text/plain' }).end(`${text}\n`)
    if (request.url === '/healthz') reply(200, 'ok')
    else if (request.url === '/readyz')
      options
        .ready()
        .catch(() => false)
        .then((ready) => (ready ? reply(200, 'ready') : reply(503, 'not ready')))
    else reply(404, 'not found')
  })
  await listen(server, options.host, options.port)
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve())
  })
}
