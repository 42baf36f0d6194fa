import {
  consumerApi,
  consumerConfiguration,
  consumerName,
  type Expectation,
  eventConsumers,
  eventStream,
  expectedConsumer,
  expectedStream,
  type StreamSettings,
  streamApi,
  streamConfiguration,
  streamKeeper,
  streamNews,
} from '@backoffice/contracts'
import { type Logger, Loop } from '@backoffice/process'
import { askJetStream, connectNats, differencesFrom, type JetStreamInfo, type NatsConfig } from '@backoffice/rpc'
import type { NatsConnection } from '@nats-io/transport-node'

const checkMs = 2_000

/** The stream, or one of its consumers, with how JetStream is asked for it. */
interface Part {
  readonly name: string
  readonly wanted: Readonly<Record<string, unknown>>
  /** Fields that others may set. */
  readonly harmless: readonly string[]
  readonly info: string
  readonly create: { readonly subject: string; readonly request: object }
  readonly update: (found: Readonly<Record<string, unknown>>) => { readonly subject: string; readonly request: object }
}

/** In this order: a consumer needs its stream. */
function parts(settings: StreamSettings): readonly Part[] {
  const configuration = streamConfiguration(settings)
  const { harmless } = expectedStream(settings.replicas)
  // What is harmless may be somebody's decision. The server itself writes `metadata`.
  const kept = harmless.filter((field) => field !== 'metadata')
  const stream: Part = {
    name: eventStream,
    wanted: configuration,
    harmless,
    info: streamApi.info,
    create: { subject: streamApi.create, request: configuration },
    update: (found) => ({
      subject: streamApi.update,
      request: { ...Object.fromEntries(kept.map((field) => [field, found[field]])), ...configuration },
    }),
  }
  const consumers = eventConsumers.map((consumer): Part => {
    const config = consumerConfiguration(consumer)
    const create = { subject: consumerApi(consumer).create, request: { stream_name: eventStream, config } }
    const named = expectedConsumer(consumer).harmless.filter((field) => !(field in config))
    return {
      name: consumerName(consumer),
      wanted: config,
      harmless: named,
      info: consumerApi(consumer).info,
      create,
      update: () => create,
    }
  })
  return [stream, ...consumers]
}

const exactly = ({ wanted, harmless }: Part): Expectation => ({ exactly: wanted, atLeast: {}, harmless })

/**
 * Makes the stream and its consumers, and changes those that are not as they must be. Repeating it changes nothing.
 * @throws when the server refuses: some options of a stream can never be changed
 */
export async function makeStream(connection: NatsConnection, settings: StreamSettings, log: Logger): Promise<void> {
  for (const part of parts(settings)) {
    const found = await askJetStream(connection, part.info)
    if (found === null) {
      await askJetStream(connection, part.create.subject, part.create.request)
      log.info({ stream: part.name }, `${part.name} was made in JetStream`)
      continue
    }
    const differences = differencesFrom(exactly(part), found.config)
    if (differences.length === 0) continue
    const { subject, request } = part.update(found.config)
    const changed = await askJetStream(connection, subject, request)
    const left = differencesFrom(exactly(part), changed?.config ?? {})
    if (left.length > 0) throw new Error(`${part.name} could not be changed: ${left.join('; ')}`)
    log.warn({ stream: part.name, differences }, `${part.name} was changed in JetStream`)
  }
}

/**
 * Makes the stream and its consumers again when the broker has lost them, for as long as it runs, and says to the services
 * what it finds of the stream. It changes nothing that is there: what differs may be of the next release, whose migration Job
 * has made it.
 */
export class StreamKeeper {
  readonly #connection: NatsConnection
  readonly #settings: StreamSettings
  readonly #log: Logger
  readonly #loop: Loop
  /** What was said last about each part, so that it is said once. */
  readonly #said = new Map<string, string>()

  private constructor(connection: NatsConnection, settings: StreamSettings, log: Logger) {
    this.#connection = connection
    this.#settings = settings
    this.#log = log
    this.#loop = new Loop({ name: 'keeping the stream', log, everyMs: checkMs, run: () => this.#check() })
  }

  /** @param config of the broker; the user is always `streams` */
  static async start(
    config: Omit<NatsConfig, 'NATS_USER'>,
    settings: StreamSettings,
    log: Logger,
  ): Promise<StreamKeeper> {
    const connection = await connectNats({ ...config, NATS_USER: streamKeeper }, { name: streamKeeper, log })
    const keeper = new StreamKeeper(connection, settings, log)
    keeper.#loop.start()
    void keeper.#followConnection()
    // Whatever reply subject the request names: nothing is sent there.
    connection.subscribe(streamNews.ask, { callback: () => keeper.#loop.nudge() })
    return keeper
  }

  /** Resolves when the connection is closed: by `stop`, or because the broker no longer wants it. */
  closed(): Promise<unknown> {
    return this.#connection.closed()
  }

  async stop(): Promise<void> {
    // Closed first, so that no request waits for a broker that does not answer.
    await this.#connection.close()
    await this.#loop.stop()
  }

  async #followConnection(): Promise<void> {
    for await (const { type } of this.#connection.status()) if (type === 'reconnect') this.#loop.nudge()
  }

  async #check(): Promise<void> {
    for (const part of parts(this.#settings)) {
      const found = await askJetStream(this.#connection, part.info)
      this.#tell(part, found)
      if (found === null) {
        this.#tell(part, await askJetStream(this.#connection, part.create.subject, part.create.request))
        this.#log.warn({ stream: part.name }, `${part.name} was missing in JetStream, and was made again`)
      }
      const differences = found === null ? [] : differencesFrom(exactly(part), found.config)
      const said = differences.join('; ')
      if (said !== '' && said !== this.#said.get(part.name))
        this.#log.error(
          { stream: part.name, differences },
          `${part.name} in JetStream differs from its configuration; the migration Job changes it`,
        )
      this.#said.set(part.name, said)
    }
  }

  #tell({ name }: Part, found: JetStreamInfo | null): void {
    if (name === eventStream) this.#connection.publish(streamNews.found, JSON.stringify(found))
  }
}
