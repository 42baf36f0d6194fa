// A local receiver of webhooks, and one that accepts connections and never replies. Arrivals are reported in lists, so that
// reporting costs less than receiving.
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import type { Arrival } from './webhook-receiver.ts'
import './ends-with-parent.ts'

const reportEveryMs = 20

let arrivals: Arrival[] = []
const receiver = createServer((request, response) => {
  // The clock that all processes of this machine share.
  const atMs = Number(process.hrtime.bigint()) / 1e6
  arrivals.push({ id: String(request.headers['x-webhook-id']), atMs })
  request.resume()
  request.once('end', () => response.writeHead(204).end())
})
const blackHole = createTcpServer((socket) => {
  socket.on('error', () => {})
  socket.resume()
})
const listening = (server: typeof receiver | typeof blackHole) =>
  new Promise<number>((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))

setInterval(() => {
  if (arrivals.length === 0) return
  process.send?.(arrivals)
  arrivals = []
}, reportEveryMs)
process.send?.({
  url: `http://127.0.0.1:${await listening(receiver)}/`,
  blackHoleUrl: `http://127.0.0.1:${await listening(blackHole)}/`,
})
