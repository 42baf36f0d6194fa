// node test/cluster/load.ts: ten deposits a second until SIGTERM, then how many requests had no answer or one of 5xx, and for
// how long at most none was answered. BASE_URL, OPERATOR_KEY and OPERATOR_SECRET say of which cluster.
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { OperatorClient } from '@backoffice/test-kit'
import { register } from '../journey.ts'

const { BASE_URL = '', OPERATOR_KEY = '', OPERATOR_SECRET = '' } = process.env
const operator = new OperatorClient(BASE_URL, { key: OPERATOR_KEY, secret: OPERATOR_SECRET })
const { id: playerId } = await register(operator)
const everyMs = 100
const under = new Set<Promise<void>>()
let [requests, failed, longest, answeredAt] = [0, 0, 0, performance.now()]

/** No request is sent again: what failed is counted. */
async function send(path: string, body?: object) {
  requests += 1
  const answer = await operator.post(path, body).catch(() => undefined)
  if (answer === undefined || answer.status >= 500) {
    failed += 1
    longest = Math.max(longest, performance.now() - answeredAt)
    return undefined
  }
  answeredAt = performance.now()
  return answer.body as { readonly id?: string }
}

async function deposit(): Promise<void> {
  const terms = { amount: '1.00', currency: 'BRL', method: 'pix', externalReference: randomUUID() }
  const made = await send(`/players/${playerId}/deposits`, terms)
  if (made?.id !== undefined) await send(`/deposits/${made.id}/confirm`)
}

const stopped = new AbortController()
process.once('SIGTERM', () => stopped.abort())
console.error('ten deposits a second, until SIGTERM')
while (!stopped.signal.aborted) {
  const one = deposit().finally(() => under.delete(one))
  under.add(one)
  await wait(everyMs, undefined, { signal: stopped.signal }).catch(() => {})
}
await Promise.all(under)
console.log(JSON.stringify({ requests, failed, awaySeconds: Math.round(longest / 100) / 10 }))
await operator.close()
