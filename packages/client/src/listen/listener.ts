import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { WebhookEvent } from '../types.ts'
import { type Answer, type Delivery, forward, judge, signedAnew } from './forward.ts'
import type { Settings } from './program.ts'
import { answerText, arrivalText, type Paint } from './terminal.ts'

export interface ListenOptions extends Settings {
  readonly secrets: readonly string[]
  readonly print: (text: string) => void
  readonly paint: Paint
}

/** What the sender hears. */
type Told = Pick<Answer, 'status' | 'text' | 'retryAfter'>

const accepted: Told = { status: 204, text: '', retryAfter: undefined }
/** Would be sent on for ever. */
const loop: Told = { status: 508, text: '--forward-to leads back to this program', retryAfter: undefined }

const bodyBytesMax = 1_048_576
const eventIdsMax = 10_000

/** Receives deliveries on the loopback interface, verifies and prints them, and sends them on. */
export class Listener {
  readonly #options: ListenOptions
  readonly #server = createServer((request, response) => this.#receive(request, response))
  readonly #eventIds = new Set<string>()
  /** The signatures of what the receiver has not answered yet. */
  readonly #forwarded = new Set<string>()
  /** What somebody waits for. */
  readonly #responses = new Set<ServerResponse>()
  #last: Delivery | undefined

  constructor(options: ListenOptions) {
    this.#options = options
  }

  /**
   * @returns the address that deliveries are to be sent to
   * @throws the port is taken
   */
  async start(): Promise<string> {
    await once(this.#server.listen(this.#options.port, '127.0.0.1'), 'listening')
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/webhooks`
  }

  /** Sends the last verified event once more, signed anew. */
  async resend(): Promise<void> {
    if (this.#last === undefined) return this.#options.print('There is nothing to send again yet.\n')
    await this.#handle(signedAnew(this.#last, this.#options.secrets, new Date()))
  }

  /** Answers what is under way. Nobody is waited for who only holds a connection open. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    await Promise.allSettled([...this.#responses].map((response) => once(response, 'close')))
    this.#server.closeAllConnections()
    await closed
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      if (request.method !== 'POST') return void response.writeHead(405, { Allow: 'POST' }).end()
      const body = await readBody(request)
      if (body === undefined) return void response.writeHead(413).end()
      this.#responses.add(response)
      response.once('close', () => this.#responses.delete(response))
      const headers = Object.fromEntries(
        Object.entries(request.headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : [])),
      )
      const comesBack = this.#forwarded.has(signatureIn(headers))
      const { status, text, retryAfter } = comesBack ? loop : await this.#handle({ headers, body })
      // What stands for the receiver: without an answer of its own, as a proxy would say it.
      response.writeHead(status ?? 502, retryAfter === undefined ? {} : { 'Retry-After': retryAfter }).end(text)
    } catch {
      // The sender has gone: nobody waits for the answer.
      response.destroy()
    }
  }

  async #handle(delivery: Delivery): Promise<Told> {
    const { secrets, forwardTo, showBody, print, paint } = this.#options
    const at = new Date()
    const verdict = judge(delivery, secrets, at)
    if ('event' in verdict && !this.#isWanted(verdict.event)) return accepted
    const again = 'event' in verdict && this.#eventIds.has(verdict.event.id)
    print(arrivalText({ verdict, at, again, showBody }, paint))
    // Nothing that is not verified reaches the receiver from here: this port may stand open to others.
    if ('refusal' in verdict) return { status: 401, text: verdict.refusal, retryAfter: undefined }
    this.#last = delivery
    this.#remember(verdict.event.id)
    if (forwardTo === undefined) return accepted
    const signature = signatureIn(delivery.headers)
    this.#forwarded.add(signature)
    const answer = await forward(delivery, forwardTo)
    this.#forwarded.delete(signature)
    print(answerText(answer, verdict.event, paint))
    return answer
  }

  #isWanted({ type, createdAt }: WebhookEvent): boolean {
    const { events, since } = this.#options
    return (events?.includes(type) ?? true) && (since === undefined || Date.parse(createdAt) >= since.getTime())
  }

  #remember(eventId: string): void {
    this.#eventIds.add(eventId)
    const [oldest] = this.#eventIds
    if (this.#eventIds.size > eventIdsMax && oldest !== undefined) this.#eventIds.delete(oldest)
  }
}

/** One and the same for a delivery that comes twice, and another for each attempt of the API. */
const signatureIn = (headers: Delivery['headers']): string =>
  `${headers['x-webhook-timestamp']} ${headers['x-webhook-signature']} ${headers['x-webhook-signatures']}`

/** @returns undefined when it is larger than any event. It is heard to the end, or the sender would not hear the answer. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes <= bodyBytesMax) chunks.push(chunk)
  }
  return bytes > bodyBytesMax ? undefined : Buffer.concat(chunks)
}
