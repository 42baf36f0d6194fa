import { signWebhook } from '@backoffice/contracts/signing'
import type { WebhookEvent } from '../types.ts'
import { verifyWebhook } from '../webhooks.ts'

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
