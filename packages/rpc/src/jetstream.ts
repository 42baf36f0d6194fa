import { isDeepStrictEqual } from 'node:util'
import type { Expectation } from '@backoffice/contracts'
import { limitsMs } from '@backoffice/process'
import type { NatsConnection } from '@nats-io/transport-node'

/** A stream or a consumer, as JetStream describes it. */
export interface JetStreamInfo {
  readonly config: Readonly<Record<string, unknown>>
  /** When it was created: another time means another one, which is empty. */
  readonly created: string
}

interface Reply extends Partial<JetStreamInfo> {
  readonly error?: { readonly code: number; readonly description: string }
}

/**
 * Asks JetStream's API. The library's own functions complete a configuration with what they know or find, so what they
 * send or show is not the whole configuration.
 * @returns null when there is no such stream or consumer
 */
export async function askJetStream(
  connection: NatsConnection,
  subject: string,
  request?: object,
): Promise<JetStreamInfo | null> {
  const payload = request === undefined ? '' : JSON.stringify(request)
  const message = await connection.request(subject, payload, { timeout: limitsMs.jetStream })
  const { error, config, created } = message.json<Reply>()
  if (error?.code === 404) return null
  if (error !== undefined) throw new Error(`JetStream refused ${subject}: ${error.description}`)
  if (config === undefined || created === undefined) throw new Error(`the reply to ${subject} describes nothing`)
  return { config, created }
}

/** What a configuration says otherwise than it must, in words. */
export function differencesFrom(
  { exactly, atLeast, harmless }: Expectation,
  found: JetStreamInfo['config'],
): readonly string[] {
  const say = (value: unknown) => (value === undefined ? 'not set' : JSON.stringify(value))
  const named = new Set([...Object.keys(exactly), ...Object.keys(atLeast), ...harmless])
  return [
    ...Object.entries(exactly)
      .filter(([field, value]) => !isDeepStrictEqual(found[field], value))
      .map(([field, value]) => `${field} is ${say(found[field])} instead of ${say(value)}`),
    ...Object.entries(atLeast)
      .filter(([field, least]) => !(Number(found[field]) >= least))
      .map(([field, least]) => `${field} is ${say(found[field])}, less than ${least}`),
    ...Object.entries(found)
      .filter(([field, value]) => !named.has(field) && !isEmpty(value))
      .map(([field, value]) => `${field} is ${say(value)} and must not be set`),
  ]
}

/** Servers name every option that they know, with a value that means that it is not used. */
function isEmpty(value: unknown): boolean {
  if (value === null || typeof value === 'object') return Object.values(value ?? {}).every(isEmpty)
  return [undefined, false, 0, '', 'none', 'default'].includes(value as never)
}
