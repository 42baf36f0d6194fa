import { randomInt } from 'node:crypto'
import { createConnection } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { Answer, SignedCall, Transport } from './client.ts'

/** What a network, or who stands in it, may do to a message. */
export type Fault =
  | 'lost'
  | 'unanswered'
  | 'doubled'
  | 'delayed'
  | 'swapped'
  | 'torn'
  | '503 before'
  | '503 after'
  | '429'

/** The longest that a delayed message is under way. */
const delayMsMax = 300

/** A transport that loses, doubles, delays and swaps what it carries. To its user all of that is silence, or nothing. */
export class FaultyNetwork {
  readonly counts: Partial<Record<Fault, number>> = {}
  readonly #inner: Transport
  readonly #nextFault: () => Fault | undefined
  readonly #underWay = new Set<Promise<unknown>>()
  /** Messages that the next one overtakes. */
  #overtaken: (() => void)[] = []

  /** @param nextFault what the next message meets; undefined: nothing */
  constructor(inner: Transport, nextFault: () => Fault | undefined) {
    this.#inner = inner
    this.#nextFault = nextFault
  }

  readonly send: Transport = async (call) => {
    const fault = this.#nextFault()
    if (fault !== undefined) this.counts[fault] = (this.counts[fault] ?? 0) + 1
    switch (fault) {
      case undefined:
        return this.#pass(call)
      case 'lost':
        throw new Error('the request was lost')
      case 'unanswered':
        await this.#pass(call)
        throw new Error('the answer was lost')
      case 'doubled':
        return Promise.race([this.#pass(call), this.#pass(call)])
      case 'delayed':
        // It arrives, when its sender has given up waiting.
        this.#later(pause(randomInt(delayMsMax)).then(() => this.#inner(call)))
        throw new Error('the request was delayed')
      case 'swapped': {
        // It leaves when the next message has left, or when none comes.
        const passed = new Promise<void>((resolve) => this.#overtaken.push(resolve))
        return this.#later(Promise.race([passed, pause(delayMsMax)]).then(() => this.#inner(call)))
      }
      case 'torn':
        await tear(call)
        throw new Error('reset in the middle of the body')
      case '503 after':
        await this.#pass(call)
        return errorAnswer(503, 'SERVICE_UNAVAILABLE')
      case '503 before':
        return errorAnswer(503, 'SERVICE_UNAVAILABLE')
      case '429':
        return errorAnswer(429, 'RATE_LIMITED', 2)
      default:
        return fault satisfies never
    }
  }

  /** Until what was delayed has arrived. */
  async settled(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay)
  }

  #pass(call: SignedCall): Promise<Answer> {
    const answer = this.#later(this.#inner(call))
    for (const waiting of this.#overtaken.splice(0)) waiting()
    return answer
  }

  #later(sent: Promise<Answer>): Promise<Answer> {
    const ended = sent.catch(() => undefined)
    this.#underWay.add(ended)
    void ended.then(() => this.#underWay.delete(ended))
    return sent
  }
}

const anyFault = ['lost', 'unanswered', 'doubled', 'delayed', 'swapped'] as const
/** Of a hundred messages so many meet a fault, each as likely as the others. @param random 0 up to 1, of which 1 is not one */
export const faultsOf = (percent: number, random: () => number) => (): Fault | undefined =>
  random() * 100 < percent ? anyFault[Math.floor(random() * anyFault.length)] : undefined

const errorAnswer = (status: number, code: string, retryAfter?: number): Answer => ({
  status,
  retryAfter,
  body: { error: { code, message: 'made by the kit', details: { retry: 'later' } } },
})

/** Sends half of the body and hangs up. TLS would hide where it is cut, so over https nothing is sent. */
async function tear({ method, url, headers, body }: SignedCall): Promise<void> {
  const { protocol, hostname, port, pathname } = new URL(url)
  if (protocol !== 'http:') return
  const head = [
    `${method} ${pathname} HTTP/1.1`,
    `Host: ${hostname}`,
    ...Object.entries(headers).map((one) => one.join(': ')),
  ]
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const socket = createConnection(Number(port || 80), hostname, () => {
    socket.end(`${head.join('\r\n')}\r\n\r\n${body.slice(0, body.length / 2)}`, () => socket.destroy())
  })
  socket.once('close', () => resolve())
  socket.once('error', reject)
  return promise
}
