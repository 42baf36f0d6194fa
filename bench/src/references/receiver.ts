// A local receiver of webhooks. Arrivals are reported in lists, so that reporting costs less than receiving.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import './ends-with-parent.ts'

const reportEveryMs = 20

/** Ids of events. */
let arrivals: string[] = []
const receiver = createServer((request, response) => {
  arrivals.push(String(request.headers['x-webhook-id']))
  request.resume()
  request.once('end', () => response.writeHead(204).end())
})
setInterval(() => {
  if (arrivals.length === 0) return
  process.send?.(arrivals)
  arrivals = []
}, reportEveryMs)
receiver.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`))
