import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { styleText } from 'node:util'
import { signWebhook } from '@backoffice/contracts/signing'
import { reasonOf } from '../errors.ts'
import type { WebhookEvent, WebhookEventType } from '../types.ts'
import { verifyWebhook } from '../webhooks.ts'

export interface Settings {
  /** 0 takes any free one. */
  readonly port: number
  /** A receiver of one's own, which gets each verified delivery and answers it. */
  readonly forwardTo: URL | undefined
  /** Whether the body of each event is printed too. */
  readonly showBody: boolean
  /** All, unless said. */
  readonly events: readonly WebhookEventType[] | undefined
  /** What happened before is passed over. */
  readonly since: Date | undefined
}

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

/** What a receiver of one's own said; no status when it said nothing. */
interface Answer {
  readonly status: number | undefined
  /** The beginning of its body, or why there is no answer. */
  readonly text: string
  readonly retryAfter: string | undefined
  readonly durationMs: number
}

/** The API waits no longer. */
const deadlineMs = 10_000
const textBytesMax = 1_024

/** Headers of a connection belong to that connection. */
const ofTheConnection =
  /^(host|connection|keep-alive|content-length|transfer-encoding|te|trailer|upgrade|expect|proxy-.*)$/

/** Sends a delivery on, with the same bytes and headers. */
export async function forward({ headers, body }: Delivery, url: URL): Promise<Answer> {
  const beganMs = performance.now()
  const durationMs = () => Math.round(performance.now() - beganMs)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: Object.entries(headers).filter(([name]) => !ofTheConnection.test(name)),
      body: Buffer.from(body),
      redirect: 'manual',
      signal: AbortSignal.timeout(deadlineMs),
    })
    const { status } = response
    const retryAfter = response.headers.get('retry-after') ?? undefined
    return { status, retryAfter, text: await beginningOf(response), durationMs: durationMs() }
  } catch (error) {
    return { status: undefined, retryAfter: undefined, text: reasonOf(error), durationMs: durationMs() }
  }
}

async function beginningOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes >= textBytesMax) break
  }
  return Buffer.concat(chunks).subarray(0, textBytesMax).toString('utf8').trim()
}

/** A delivery as it arrived. */
interface Delivery {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** The event of a delivery, or why it is not to be believed. */
type Verdict = { readonly event: WebhookEvent } | { readonly refusal: string }

export function judge({ headers, body }: Delivery, secrets: readonly string[], now: Date): Verdict {
  try {
    return { event: verifyWebhook({ secret: secrets, headers, rawBody: body, now }) }
  } catch (error) {
    return { refusal: `${(error as Error).message}${hint(headers, (error as Error).message, now)}` }
  }
}

/** What makes a refusal easier to mend. */
function hint(headers: Delivery['headers'], message: string, now: Date): string {
  if (message.includes('signature does not match'))
    return ': it was made with another secret, or something on the way changed the body'
  if (message.includes('tolerance')) {
    const ageSeconds = Math.round(now.getTime() / 1000 - Number(headers['x-webhook-timestamp']))
    return `: it is ${Math.abs(ageSeconds)} seconds ${ageSeconds < 0 ? 'ahead of' : 'behind'} the clock of this machine`
  }
  return ''
}

/** The same event once more, as the API sends it on a retry: id and body are the same, time and signatures are new. */
export function signedAnew({ headers, body }: Delivery, secrets: readonly string[], now: Date): Delivery {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const signatures = secrets.map((secret) => signWebhook(secret, { timestamp, body }))
  return {
    headers: {
      ...headers,
      'x-webhook-timestamp': timestamp,
      'x-webhook-signature': signatures.at(-1) ?? '',
      'x-webhook-signatures': [`t=${timestamp}`, ...signatures.map((signature) => `v1=${signature}`)].join(','),
    },
    body,
  }
}

type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow'
export type Paint = (style: Style, text: string) => string

/** Colours where somebody sees them: on a terminal, and unless NO_COLOR or the kind of terminal says otherwise. */
export function paintFor(output: NodeJS.WriteStream): Paint {
  const coloured = output.isTTY === true && output.hasColors()
  return (style, text) => (coloured ? styleText(style, text) : text)
}

/** Text of others, with what a terminal would obey shown instead. */
const visible = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )

const indent = ' '.repeat(11)
/** Of what a receiver answers. */
const textShownMax = 200

interface Arrival {
  readonly verdict: Verdict
  readonly at: Date
  /** Whether the same event has come before. */
  readonly again: boolean
  readonly showBody: boolean
}

export function arrivalText({ verdict, at, again, showBody }: Arrival, paint: Paint): string {
  // In UTC, as the times of events are.
  const clock = paint('dim', `${at.toISOString().slice(11, 19)}Z`)
  if ('refusal' in verdict) return `${clock}  ${paint('red', `not verified: ${visible(verdict.refusal)}`)}\n`
  const { event } = verdict
  const lines = [
    `${clock}  ${paint('bold', visible(event.type))}  ${visible(event.id)}  ${paint('green', 'verified')}${again ? paint('yellow', '  again') : ''}`,
    `${indent}${visible(changeOf(event))}`,
  ]
  if (showBody) {
    const body = JSON.stringify(event, null, 2).split('\n')
    lines.push(...body.map((line) => paint('dim', `${indent}${visible(line)}`)))
  }
  return `${lines.join('\n')}\n`
}

/** What the event tells, in a few words. */
function changeOf({ createdAt, data }: WebhookEvent): string {
  const record: Readonly<Record<string, unknown>> = data
  const { id = record.playerId, status = record.kycStatus, previousStatus, version, message } = record
  const change = id === undefined ? message : `${id}: ${previousStatus} → ${status}, version ${version}`
  return `${change} (${createdAt})`
}

/** Of which event: others may have come meanwhile. */
function answerText({ status, text, durationMs }: Answer, { id }: WebhookEvent, paint: Paint): string {
  const said = text === '' ? '' : `: ${visible(text.slice(0, textShownMax))}`
  const style = status !== undefined && status >= 200 && status < 300 ? 'green' : 'red'
  const outcome = `${paint(style, String(status ?? 'no answer'))}${said}`
  return `${indent}→ ${outcome}  ${paint('dim', `${visible(id)}, ${durationMs} ms`)}\n`
}
