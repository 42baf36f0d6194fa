import { setTimeout as wait } from 'node:timers/promises'
import { type HttpReply, OperatorClient } from '@backoffice/test-kit'
import type { Random } from './random.ts'

/** Longer than the longest call. A gateway that is frozen answers later, or never. */
const attemptMsMax = 10_000
const pauseMsMin = 20
const pauseMsMax = 200
/** The request did not take effect, and the same request may be sent again. */
const retryable = new Set(['IDEMPOTENCY_IN_PROGRESS', 'RATE_LIMITED', 'REQUEST_TIMEOUT', 'TIMESTAMP_OUT_OF_RANGE'])

export interface Request {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: unknown
  /** Undefined for a request that takes none. */
  readonly idempotencyKey?: string
}

/** What came of a request: the answer that will never change, or nothing that says what happened. */
export interface Asked {
  readonly reply: HttpReply | undefined
  readonly attempts: number
}

/** An operator's server that sends its requests to any gateway. */
export class Client {
  /** Answers that were not final, and attempts without any. */
  retries = 0
  /** How often each answer that was not final came, by status, code, and whether it said when to come back. */
  readonly notFinal = new Map<string, number>()
  readonly #gateways: readonly OperatorClient[]
  /** No request is sent after this moment. */
  readonly #deadline: () => number

  constructor(
    baseUrls: readonly string[],
    credentials: { readonly key: string; readonly secret: string },
    deadline: () => number,
  ) {
    this.#gateways = baseUrls.map((baseUrl) => new OperatorClient(baseUrl, credentials))
    this.#deadline = deadline
  }

  /** One attempt, which is broken off after `patienceMs`. */
  async askOnce(request: Request, random: Random, patienceMs = attemptMsMax): Promise<Asked> {
    const gateway = random.pick(this.#gateways)
    const { method, path, body, idempotencyKey = null } = request
    const call = { idempotencyKey, signal: AbortSignal.timeout(patienceMs) }
    try {
      const reply = await gateway.send(method, path, method === 'GET' ? call : { ...call, body: body ?? {} })
      if (isFinal(reply)) return { reply, attempts: 1 }
      const kind = describeReply(reply)
      this.notFinal.set(kind, (this.notFinal.get(kind) ?? 0) + 1)
      return { reply: undefined, attempts: 1 }
    } catch {
      return { reply: undefined, attempts: 1 }
    }
  }

  /** The same request, under the same key, until its answer is final. */
  async ask(request: Request, random: Random): Promise<Asked> {
    for (let attempts = 1; ; attempts += 1) {
      const { reply } = await this.askOnce(request, random)
      if (reply !== undefined || performance.now() > this.#deadline()) return { reply, attempts }
      this.retries += 1
      await wait(random.integer(pauseMsMin, pauseMsMax))
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#gateways.map((gateway) => gateway.close()))
  }
}

const describeReply = ({ status, body, headers }: HttpReply): string =>
  `${status} ${body?.error?.code}${headers['retry-after'] === undefined ? '' : ', Retry-After'}`

/** Whether the same request gets this answer for ever. */
function isFinal({ status, body }: HttpReply): boolean {
  return status < 500 && !retryable.has(body?.error?.code)
}
