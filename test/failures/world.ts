import { randomUUID } from 'node:crypto'
import {
  eventStream,
  type Input,
  type Operation,
  operations,
  roleName,
  type Scope,
  type ServiceName,
  serviceNames,
} from '@backoffice/contracts'
import { readerOf } from '@backoffice/service-runtime'
import type { RunningService } from '@backoffice/service-runtime/testing'
import {
  askAs,
  type Callers,
  eventually,
  type Fields,
  keptEvents,
  OperatorClient,
  proposalOf,
  serveHttp,
  type Teardown,
  type TestBed,
  testBed,
  type Unseen,
} from '@backoffice/test-kit'
import { jetstreamManager } from '@nats-io/jetstream'
import { services } from '../services.ts'
import { MortalServices } from './mortal-services.ts'

const unfinished = [
  ...serviceNames.map((name) => `select '${name}: unsent ' || name as what from ${name}.outbox`),
  ...serviceNames.map((name) => `select '${name}: set aside ' || fault from ${name}.set_aside_message`),
  `select 'a claim without a reply' from gateway.claim where status is null`,
  `select 'an intent' from payments.withdrawal where status = 'intent'`,
  `select 'a delivery to come' from webhooks.delivery where state = 'pending'`,
  // An event that is published and not yet heard is nowhere but in its outbox.
  ...(['players', 'payments'] as const).map(
    (name) => `select 'an event unheard' from ${keptEvents(name)}
      where not exists (select from webhooks.inbox where event_id = id)`,
  ),
].join('\nunion all ')

const never = 3_600_000

// biome-ignore lint/suspicious/noExplicitAny: what it holds depends on the operation
type Body = any

interface Approval {
  readonly approves: string
  readonly operationId: string
}

/** All services in this process, each of which can die and start again, an operator, and its receiver of webhooks. */
export class World implements Callers {
  readonly bed: TestBed<typeof services>
  readonly mortal: MortalServices
  /** Ids of the events that the operator has received, each as often as it came. */
  readonly received: string[] = []
  scope: Scope = {} as Scope
  #credentials: { readonly key: string; readonly secret: string } = { key: '', secret: '' }
  #client: OperatorClient | undefined

  private constructor(bed: TestBed<typeof services>, mortal: MortalServices) {
    this.bed = bed
    this.mortal = mortal
  }

  static async start(t: Teardown): Promise<World> {
    const cutDatabase = async (service: ServiceName) => {
      const connections = 'from pg_stat_activity where usename = any($1) and datname = current_database()'
      const roles = [[roleName(service), readerOf(roleName(service))]]
      const cut = () => bed.sql('admin').query(`select pg_terminate_backend(pid) ${connections}`, roles)
      // Again and again: a transaction that is cut off may be tried once more, and holds its new connection until its
      // service is known to be dead, which it is when no connection is left.
      await eventually(async () => (await cut()).rowCount === 0)
    }
    const mortal = new MortalServices(cutDatabase)
    const bed: TestBed<typeof services> = await testBed(t, services, {
      intercept: mortal.intercept,
      config: {
        payments: { INTENT_SWEEP_EVERY_MS: never },
        wallet: { CHECKPOINT_EVERY_MS: never },
        webhooks: { WEBHOOK_BACKOFF_BASE_MS: 10 },
      },
    })
    for (const [service, running] of Object.entries(bed.services))
      mortal.hasStarted(service as ServiceName, running as RunningService)
    const world = new World(bed, mortal)
    t.teardown(() => world.#client?.close())
    await world.#register(await world.#receive(t))
    return world
  }

  #receive(t: Teardown): Promise<string> {
    return serveHttp(t, (request, response) => {
      this.received.push(String(request.headers['x-webhook-id']))
      request.resume().on('end', async () => {
        await this.mortal.requestArrives('webhooks')
        response.writeHead(204).end()
      })
    })
  }

  async #register(url: string): Promise<void> {
    const input = { name: 'mortal', rateLimitPerMinute: 100_000 }
    const { operatorId, sandbox } = await this.team(operations.gateway.createOperator, input)
    await this.team(operations.webhooks.setWebhookUrl, { operatorId, environment: 'sandbox', url })
    this.#credentials = { key: sandbox.key, secret: sandbox.secret }
    const { body } = await this.#http().get('/me')
    this.scope = this.bed.scope({ operatorId, brandId: body.brand.id })
  }

  /** A gateway that starts again listens on another port. */
  #http(): OperatorClient {
    this.#client ??= new OperatorClient(this.bed.services.gateway.addresses.baseUrl, this.#credentials)
    return this.#client
  }

  /** Sends a request over HTTP. Throws unless it is accepted. */
  async ask(operation: Operation, input: Fields, idempotencyKey: string): Promise<Body> {
    const reply = await this.#unlessDead('gateway', askAs(this.#http(), operation, input, idempotencyKey))
    if (reply.status >= 300) throw new Error(`${operation.id}: ${reply.status} ${reply.bytes}`)
    return reply.body
  }

  /** Calls an operation as the gateway does for a signed request. */
  call<O extends Operation>(operation: O, input: Input<O>, operationId: string = randomUUID()): Promise<Body> {
    const options = { scope: this.scope, input, operationId }
    return this.#unlessDead(operation.service, this.bed.rpc.call(operation, options))
  }

  /** The same for what a provider of games has signed. */
  play<O extends Operation>(operation: O, input: Input<O>, provider: string): Promise<Body> {
    const scope = { ...this.scope, provider: { id: provider, bodyDigest: '0'.repeat(64) } }
    return this.#unlessDead(operation.service, this.bed.rpc.call(operation, { scope, input }))
  }

  /** Calls an operation of the team. */
  team<O extends Operation>(operation: O, input: Unseen<O>, operationId: string = randomUUID()): Promise<Body> {
    return this.#unlessDead(operation.service, this.bed.team('alice').call(operation, { input, operationId }))
  }

  /** Proposes what takes two people. @returns the proposal */
  async propose<O extends Operation>(operation: O, input: Unseen<O>): Promise<string> {
    return (await proposalOf(this.team(operation, input))).proposalId
  }

  /** Carries out what somebody else has proposed. */
  approve<O extends Operation>(operation: O, input: Input<O>, approval: Approval): Promise<Body> {
    return this.#unlessDead(operation.service, this.bed.team('bob').call(operation, { input, ...approval }))
  }

  /** Who waits for a dead process hears nothing. */
  #unlessDead<T>(service: ServiceName, call: Promise<T>): Promise<T> {
    const end = this.mortal.endOf(service).then(() => Promise.reject(new Error(`${service} has died`)))
    return Promise.race([call, end])
  }

  /** Another process takes over, and what the dead one had leased is free. That takes up to half a minute otherwise. */
  async startAgain(service: ServiceName): Promise<void> {
    const running = await this.bed.start(service)
    this.mortal.hasStarted(service, running)
    Object.assign(this.bed.services, { [service]: running })
    if (service === 'gateway') {
      void this.#client?.close()
      this.#client = undefined
    }
    if (service === 'webhooks') await this.#redeliver()
    await this.leasesRunOut()
  }

  async leasesRunOut(): Promise<void> {
    const outboxes = Object.keys(services).map(
      (service) => `update ${service}.outbox set leased_until = now() where leased_until > now();`,
    )
    await this.bed.sql('admin').query(`${outboxes.join('\n')}
      update gateway.claim set leased_until = null where status is null and leased_until is not null;
      update webhooks.lease set leased_until = now();`)
  }

  /** The broker waits for half a minute for an acknowledgement; here it waits no longer. */
  async #redeliver(): Promise<void> {
    const manager = await jetstreamManager(await this.bed.nats('streams'), { checkAPI: false })
    await manager.consumers.update(eventStream, 'webhooks-schedule-delivery', { ack_wait: 250_000_000 })
  }

  /** Waits until nothing is left to do. @throws what is stuck */
  async settle(): Promise<void> {
    await eventually(async () => {
      const { rows } = await this.bed.sql('admin').query({ name: 'unfinished', text: unfinished })
      const stuck = rows.map(({ what }) => what)
      if (stuck.length > 0) throw new Error(`stuck: ${stuck.join(', ')}`)
    })
  }

  /** Whether an operation has had its effect, and its reply is not kept. */
  async isWithoutReply(service: ServiceName, operationId: string): Promise<boolean> {
    const text = `select from ${service}.operation where operation_id = $1 and reply is null and not abandoned`
    return (await this.row(text, [operationId])) !== undefined
  }

  /** The first row, with the rights of the superuser. */
  async row(text: string, values: readonly unknown[] = []): Promise<Body> {
    return (await this.bed.sql('admin').query(text, [...values])).rows[0]
  }
}

/** Sends a command; the same key again is the same command. */
// biome-ignore lint/suspicious/noExplicitAny: what it replies depends on the operation
export type Send = (key: string) => Promise<any>

/** A command that is sent while services die. */
export interface Command {
  readonly operation: Operation
  /** What it does, where one operation does several things. */
  readonly decision?: string
  /** Makes what the command needs. */
  readonly prepare: (world: World) => Promise<Send>
  /** Tables in which a death may leave rows that nobody ever uses, and why that is no harm. */
  readonly leaves?: { readonly tables: readonly string[]; readonly because: string }
}
