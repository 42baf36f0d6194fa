import { readFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { Teardown } from '@backoffice/test-kit'

/** A receiver that speaks raw bytes: what it does with a connection is up to the test. */
export async function startRawReceiver(
  t: Teardown,
  behave: (socket: Socket) => void,
): Promise<{ url: string; connections: () => number }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
    behave(socket)
  })
  await listen(server)
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, connections: () => sockets.size }
}

/** Answers as soon as the request's head has come. */
export const answering = (reply: (socket: Socket) => void) => (socket: Socket) =>
  socket.once('data', () => reply(socket))

/** Writes `chunk` every `everyMs` until the connection is gone. */
export function drip(socket: Socket, chunk: string, everyMs: number): void {
  const timer = setInterval(() => socket.writable && socket.write(chunk), everyMs)
  socket.on('close', () => clearInterval(timer))
}

export const certificate = (name: string) => readFileSync(new URL(`./certificates/${name}`, import.meta.url), 'utf8')

/** An https receiver on loopback with one of the test authority's certificates. @returns its port */
export async function startTlsReceiver(
  t: Teardown,
  name: 'valid' | 'expired' | 'other-host',
  hosts: string[] = [],
  connected: (socket: Socket) => void = () => {},
): Promise<number> {
  const server = createTlsServer(
    { key: certificate(`${name}.key`), cert: certificate(`${name}.pem`) },
    (request, response) => {
      hosts.push(String(request.headers.host))
      request.resume().on('end', () => response.writeHead(200).end('ok'))
    },
  )
  server.on('secureConnection', connected)
  await listen(server)
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

function listen(server: Server): Promise<void> {
  return new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
}
