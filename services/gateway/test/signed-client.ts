import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { signRequest } from '@backoffice/contracts'
import { Agent } from 'undici'
import { operatorKeys, providerKeys } from '../src/keys.ts'

// The dispatcher itself sends the path as it is; fetch and request() would normalise it.
const agent = new Agent()

export interface Pair {
  readonly key: string
  readonly secret: string | null
}

export interface SignedRequest {
  readonly method?: 'GET' | 'HEAD' | 'POST'
  /** Below the base URL, as sent. */
  readonly path: string
  readonly body?: string | Buffer
  readonly headers?: Record<string, string>
  /** A header that is not sent. */
  readonly without?: string
  readonly timestamp?: string
  /** Signed instead of the real path, body or secret, to make the signature wrong. */
  readonly signedPath?: string
  readonly signedBody?: string
  readonly secret?: string
}

export interface Answer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever JSON came
  readonly json: any
}

/** The headers of a signed request. `path` is the whole one. Without a pair (production's, outside development) it throws. */
export function signedHeaders(
  pair: Pair | null,
  path: string,
  options: Omit<SignedRequest, 'path'>,
): Record<string, string> {
  const { method = 'GET', body = '', timestamp = String(Math.floor(Date.now() / 1000)) } = options
  if (pair === null) throw new Error('there is no pair to sign with')
  const secret = options.secret ?? pair.secret ?? ''
  const signature = signRequest(secret, {
    method,
    path: options.signedPath ?? path,
    timestamp,
    body: options.signedBody ?? body,
  })
  const headers: Record<string, string> = {
    [pair.key.startsWith('gp_') ? providerKeys.header : operatorKeys.header]: pair.key,
    'X-Timestamp': timestamp,
    'X-Signature': signature,
    ...(body.length > 0 ? { 'Content-Type': 'application/json' } : {}),
    ...options.headers,
  }
  if (options.without !== undefined) delete headers[options.without]
  return headers
}

/** Sends one signed request, exactly as it is told to. */
async function sendSigned(baseUrl: string, pair: Pair | null, options: SignedRequest): Promise<Answer> {
  const { method = 'GET', body = '' } = options
  const url = new URL(baseUrl)
  const path = url.pathname + options.path
  const response = await agent.request({
    origin: url.origin,
    path,
    method,
    headers: signedHeaders(pair, path, options),
    ...(body.length > 0 ? { body } : {}),
  })
  const text = await response.body.text()
  return { status: response.statusCode, headers: response.headers as Answer['headers'], text, json: parse(text) }
}

/** @param now by which requests are dated that do not say otherwise */
export function clientAt(now: () => Date) {
  const send = (baseUrl: string, pair: Pair | null, options: SignedRequest): Promise<Answer> =>
    sendSigned(baseUrl, pair, { timestamp: String(Math.floor(now().getTime() / 1_000)), ...options })
  return {
    send,
    /** A POST under a fresh Idempotency-Key, or the given one. */
    post: (baseUrl: string, pair: Pair | null, path: string, body: unknown, key: string = randomUUID()) =>
      send(baseUrl, pair, { method: 'POST', path, body: JSON.stringify(body), headers: { 'Idempotency-Key': key } }),
  }
}

export const { send, post } = clientAt(() => new Date())

/**
 * Sends bytes, or lines, and returns what comes until the other side closes.
 * @param ends whether nothing more follows them
 */
export async function exchange(port: number, bytes: string | readonly string[], ends = false): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let answer = ''
  socket.setEncoding('latin1').on('data', (chunk) => {
    answer += chunk
  })
  socket.on('error', ({ message }) => {
    answer += message
  })
  const text = typeof bytes === 'string' ? bytes : bytes.join('\r\n')
  if (ends) socket.end(text)
  else socket.write(text)
  await once(socket, 'close')
  return answer
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
