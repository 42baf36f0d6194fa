import { isDeepStrictEqual } from 'node:util'
import {
  consumerApi,
  consumerName,
  type EventConsumerEntry,
  type Expectation,
  eventStream,
  expectedConsumer,
  expectedStream,
  streamApi,
} from '@backoffice/contracts'
import type { Logger } from '@backoffice/process'
import type { NatsConnection } from '@nats-io/transport-node'

const timeoutMs = 5_000

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
  const message = await connection.request(subject, payload, { timeout: timeoutMs })
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

/** The stream, or a consumer of it, is missing or is not configured as it must be. */
export class StreamFault extends Error {
  override readonly name = 'StreamFault'
}

type State = 'unknown' | 'right' | 'missing' | 'different'

/**
 * The stream as this service finds it. A service makes and changes nothing there. It uses the stream only after it has
 * compared its whole configuration, because JetStream sends on whatever a configuration says, to any subject and with
 * rights of its own.
 */
export class EventStream {
  readonly #connection: NatsConnection
  readonly #replicasMin: number
  readonly #log: Logger
  /** Of the stream and of each consumer, by name. */
  readonly #states = new Map<string, State>()
  #wasFound = false
  #checking: Promise<string> | undefined

  constructor(options: { readonly connection: NatsConnection; readonly replicasMin: number; readonly log: Logger }) {
    this.#connection = options.connection
    this.#replicasMin = options.replicasMin
    this.#log = options.log
  }

  /** Whether the stream was ever as it must be. A process that never reached it may be connected wrongly, and would publish nothing. */
  get wasFound(): boolean {
    return this.#wasFound
  }

  /** Whether anything was found that is configured otherwise than it must be. */
  get differs(): boolean {
    return [...this.#states.values()].includes('different')
  }

  /** While there is no connection, somebody may put another stream in its place. */
  doubt(): void {
    if (this.#states.get(eventStream) === 'right') this.#states.set(eventStream, 'unknown')
  }

  /**
   * Resolves when the stream may be used. Asks the server unless the last check found it right.
   * @throws {StreamFault}
   */
  async assertUsable(): Promise<void> {
    if (this.#states.get(eventStream) !== 'right') await this.check()
  }

  /**
   * Compares the stream with what it must be.
   * @returns when it was created
   * @throws {StreamFault}
   */
  check(): Promise<string> {
    this.#checking ??= this.#compare(eventStream, streamApi.info, expectedStream(this.#replicasMin))
      .then(({ created }) => {
        this.#wasFound = true
        return created
      })
      .finally(() => {
        this.#checking = undefined
      })
    return this.#checking
  }

  /**
   * Compares a consumer with what it must be.
   * @throws {StreamFault}
   */
  async checkConsumer(consumer: EventConsumerEntry): Promise<void> {
    await this.#compare(consumerName(consumer), consumerApi(consumer).info, expectedConsumer(consumer))
  }

  async #compare(name: string, subject: string, expected: Expectation): Promise<JetStreamInfo> {
    const info = await askJetStream(this.#connection, subject)
    const before = this.#states.get(name)
    if (info === null) {
      this.#states.set(name, 'missing')
      if (before !== 'missing') this.#log.error({ stream: name }, 'missing in JetStream: waiting until it is made')
      throw new StreamFault(`${name} is missing in JetStream`)
    }
    const differences = differencesFrom(expected, info.config)
    if (differences.length > 0) {
      this.#states.set(name, 'different')
      if (before !== 'different')
        this.#log.error(
          { stream: name, differences },
          'configured otherwise than it must be: nothing is published or consumed until that is mended',
        )
      throw new StreamFault(`${name} is configured otherwise than it must be: ${differences.join('; ')}`)
    }
    this.#states.set(name, 'right')
    if (before === 'missing' || before === 'different')
      this.#log.info({ stream: name }, 'in JetStream again as it must be')
    return info
  }
}
