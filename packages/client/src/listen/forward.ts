import { signWebhook } from '@backoffice/contracts/signing'
import { reasonOf } from '../errors.ts'
import type { WebhookEvent } from '../types.ts'
import { verifyWebhook } from '../webhooks.ts'

/** What a receiver of one's own said; no status when it said nothing. */
export interface Answer {
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
export interface Delivery {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** The event of a delivery, or why it is not to be believed. */
export type Verdict = { readonly event: WebhookEvent } | { readonly refusal: string }

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
