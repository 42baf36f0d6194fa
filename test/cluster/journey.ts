// What an operator's server sees of a cluster: BASE_URL, OPERATOR_KEY and OPERATOR_SECRET say which one.
//
//   node test/cluster/journey.ts once    a deposit, and what a proxy could spoil; with a receiver of yours also a webhook
//   node test/cluster/journey.ts load    ten deposits a second until SIGTERM, then how many requests failed
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { OperatorClient } from '@backoffice/test-kit'
import { createDeposit, expectStatus, register } from '../journey.ts'

/** Paths whose signature only holds if nobody on the way tidies them, and what the API says of them. */
const awkward: readonly (readonly [path: string, status: number])[] = [
  ['/players/%2e%2Fnobody/wallet', 404],
  ['/players/%2e%2e%2f%2fnobody//wallet', 404],
  ['/players?externalId=a%2e%2F%2Fb', 200],
]

/** @throws what is not as it should be */
export async function journey(operator: OperatorClient, { webhook }: { readonly webhook: boolean }): Promise<void> {
  for (const [path, status] of awkward) expectStatus(await operator.get(path), status)
  const { id: playerId } = await register(operator)
  const { id } = await createDeposit(operator, playerId, '150.00')
  expectStatus(await operator.post(`/deposits/${id}/confirm`), 200)
  const { available } = expectStatus(await operator.get(`/players/${playerId}/wallet`), 200)
  if (available !== '150.00') throw new Error(`the wallet has ${available}, not 150.00`)
  if (!webhook) return
  const { delivered, statusCode } = expectStatus(await operator.post('/webhooks/test'), 200)
  if (delivered !== true) throw new Error(`the webhook was not delivered: ${statusCode}`)
}

interface Load {
  /** @returns how many requests were sent, how many had no answer or one of 5xx, and for how long at most none was answered */
  stop(): Promise<{ readonly requests: number; readonly failed: number; readonly awaySeconds: number }>
}

/** No request is sent again: what failed is counted. */
function startLoad(operator: OperatorClient, playerId: string, everyMs = 100): Load {
  const stopped = new AbortController()
  const under = new Set<Promise<void>>()
  let [requests, failed, longest, answeredAt] = [0, 0, 0, performance.now()]
  const send = async (path: string, body?: object) => {
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
  const deposit = async () => {
    const terms = { amount: '1.00', currency: 'BRL', method: 'pix', externalReference: randomUUID() }
    const made = await send(`/players/${playerId}/deposits`, terms)
    if (made?.id !== undefined) await send(`/deposits/${made.id}/confirm`)
  }
  const run = async () => {
    while (!stopped.signal.aborted) {
      const one = deposit().finally(() => under.delete(one))
      under.add(one)
      await wait(everyMs, undefined, { signal: stopped.signal }).catch(() => {})
    }
  }
  const running = run()
  return {
    async stop() {
      stopped.abort()
      await running
      await Promise.all(under)
      return { requests, failed, awaySeconds: Math.round(longest / 100) / 10 }
    },
  }
}

async function main(command: string | undefined): Promise<void> {
  const { BASE_URL = '', OPERATOR_KEY = '', OPERATOR_SECRET = '', WEBHOOK_URL = '' } = process.env
  const operator = new OperatorClient(BASE_URL, { key: OPERATOR_KEY, secret: OPERATOR_SECRET })
  try {
    if (command === 'once') return await journey(operator, { webhook: WEBHOOK_URL !== '' })
    if (command !== 'load') throw new Error('once or load')
    const load = startLoad(operator, (await register(operator)).id)
    const told = new Promise((resolve) => process.once('SIGTERM', resolve))
    console.error('ten deposits a second, until SIGTERM')
    await told
    console.log(JSON.stringify(await load.stop()))
  } finally {
    await operator.close()
  }
}

if (import.meta.main) await main(process.argv[2])
