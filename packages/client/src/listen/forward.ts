import { reasonOf } from '../errors.ts'
import type { Delivery } from './delivery.ts'

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
