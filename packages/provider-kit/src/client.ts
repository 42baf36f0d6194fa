import { Agent, request as httpRequest } from 'node:http'
import { request as httpsRequest, Agent as TlsAgent } from 'node:https'
import { text } from 'node:stream/consumers'
import { signRequest } from '@backoffice/contracts/signing'

/** They answer within 3 seconds. Whoever waits for less gives up bets that were taken. */
export const answerTimeoutMs = 5_000
const connections = 64

export interface Credentials {
  readonly key: string
  readonly secret: string
}

/** A request as it goes out. */
export interface SignedCall {
  readonly method: 'GET' | 'POST'
  /** Origin and path with query. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface Answer {
  readonly status: number
  /** Seconds of `Retry-After`, where it stands. */
  readonly retryAfter: number | undefined
  /** The body as JSON; undefined when it is not. */
  // biome-ignore lint/suspicious/noExplicitAny: whoever reads it knows what was asked
  readonly body: any
}

/** Sends once. It rejects when no answer came: then nobody knows what was done. */
export type Transport = (call: SignedCall) => Promise<Answer>

/** What an answer means for whoever asked; `unknown`: it may have been done. */
export type Meaning = 'done' | 'refused' | 'later' | 'unknown'

/** @param answer undefined when none came */
export function meaningOf(answer: Answer | undefined): Meaning {
  if (answer === undefined || answer.status >= 500)
    return answer?.body?.error?.code === 'WIN_HELD' ? 'later' : 'unknown'
  if (answer.status < 300) return 'done'
  // A status that we do not know moved no money, and is worth another attempt only if they say so.
  return answer.body?.error?.details?.retry === 'later' || [408, 429].includes(answer.status) ? 'later' : 'refused'
}

export const codeOf = (answer: Answer | undefined): string | undefined => answer?.body?.error?.code

/** Over Node's own HTTP, with connections that are kept open. */
export function httpTransport(timeoutMs = answerTimeoutMs): { readonly send: Transport; close(): void } {
  const agents = {
    'http:': new Agent({ keepAlive: true, maxSockets: connections }),
    'https:': new TlsAgent({ keepAlive: true }),
  }
  const send: Transport = (call) =>
    new Promise((resolve, reject) => {
      const { method, url, headers, body } = call
      const to = new URL(url)
      const [start, agent] =
        to.protocol === 'https:' ? [httpsRequest, agents['https:']] : [httpRequest, agents['http:']]
      const signal = AbortSignal.timeout(timeoutMs)
      const request = start(to, { method, headers, agent, signal }, async (response) => {
        const retryAfter = response.headers['retry-after']
        const bytes = await text(response).catch(reject)
        resolve({
          status: response.statusCode ?? 0,
          retryAfter: retryAfter === undefined ? undefined : Number(retryAfter),
          body: bytes && parse(bytes),
        })
      })
      request.on('error', (error) => {
        // They closed the connection as it was used again: a read may be repeated (RFC 9110, 9.2.2).
        if (method === 'GET' && request.reusedSocket && !signal.aborted) resolve(send(call))
        else reject(error)
      })
      request.end(body === '' ? undefined : body)
    })
  return { send, close: () => Object.values(agents).forEach((agent) => void agent.destroy()) }
}

/** Undefined where it is no JSON. */
// biome-ignore lint/suspicious/noExplicitAny: whatever came
export function parse(text: string): any {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export interface ClientOptions extends Credentials {
  /** The origin of the providers' surface. */
  readonly url: string
  readonly brandId: string
  readonly transport: Transport
  /** Milliseconds since 1970. */
  readonly now?: () => number
}

/** Signs and sends what a provider calls in one brand. Each attempt is signed anew, over the same bytes. */
export class ProviderClient {
  readonly options: ClientOptions

  constructor(options: ClientOptions) {
    this.options = options
  }

  /** The same client with something else. */
  with(changed: Partial<ClientOptions>): ProviderClient {
    return new ProviderClient({ ...this.options, ...changed })
  }

  /** @param path below the brand, such as `/bets` */
  post(path: string, body: string): Promise<Answer> {
    return this.options.transport(this.sign('POST', path, body))
  }

  get(path: string): Promise<Answer> {
    return this.options.transport(this.sign('GET', path, ''))
  }

  sign(method: 'GET' | 'POST', path: string, body: string): SignedCall {
    const { url, brandId, key, secret, now = Date.now } = this.options
    const to = new URL(`/provider/v1/${brandId}${path}`, url)
    const timestamp = String(Math.floor(now() / 1_000))
    const signature = signRequest(secret, { method, path: `${to.pathname}${to.search}`, timestamp, body })
    const headers: Record<string, string> = {
      'X-Provider-Key': key,
      'X-Timestamp': timestamp,
      'X-Signature': signature,
    }
    if (body !== '') {
      headers['Content-Type'] = 'application/json'
      headers['Content-Length'] = String(Buffer.byteLength(body))
    }
    return { method, url: to.href, headers, body }
  }

  /** What they hold of a transaction; undefined when they hold nothing. */
  async transaction(kind: 'bet' | 'win' | 'rollback', transactionId: string) {
    const answer = await this.get(`/transactions/${kind}/${encodeURIComponent(transactionId)}`)
    if (answer.status === 404) return undefined
    return read(answer)
  }

  /** Every round that was opened on a day of the brand (YYYY-MM-DD), or each player's with this id of yours. */
  async rounds(query: { readonly day: string } | { readonly roundId: string }) {
    // biome-ignore lint/suspicious/noExplicitAny: as the reference shows it
    const found: any[] = []
    let cursor: string | null = null
    do {
      const search = new URLSearchParams({ ...query, ...(cursor === null ? {} : { cursor }) })
      const { data, nextCursor } = read(await this.get(`/rounds?${search}`))
      found.push(...data)
      cursor = nextCursor
    } while (cursor !== null)
    return found
  }
}

function read({ status, body }: Answer) {
  if (status !== 200) throw new Error(`a read was answered with ${status} ${body?.error?.code ?? ''}`)
  return body
}
