import { type EventMessage, eventSubject, operations, type Scope } from '@backoffice/contracts'
import { depositConfirmed, type Teardown, type TestBed, testBed } from '@backoffice/test-kit'
import { jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { webhooks } from '../src/service.ts'

type Bed = TestBed<{ webhooks: typeof webhooks }>
type Options = NonNullable<Parameters<typeof testBed>[2]>

const { provisionWebhook, setWebhookUrl, showDelivery, showWebhook } = operations.webhooks

export interface WebhooksBed {
  readonly bed: Bed
  /** An operator's environment whose webhook has a secret, and a URL if one is given. */
  operator(url?: string, overrides?: Partial<Scope>): Promise<{ scope: Scope; secret: string }>
  /** Publishes an event of the operator's as its service would. */
  emit(scope: Scope): Promise<EventMessage>
  setUrl(scope: Scope, url: string): Promise<unknown>
  endpoint(scope: Scope): ReturnType<typeof endpointOf>
  story(id: string): ReturnType<typeof storyOf>
  /** Runs a query in somebody else's transaction, which holds what it locks until it is let go or the test ends. */
  hold(t: Teardown, query: string, id: string): Promise<() => Promise<void>>
}

let operators = 0

export async function webhooksBed(
  t: Parameters<typeof testBed>[0],
  environment: Record<string, string | number> = {},
  options: Omit<Options, 'config'> = {},
): Promise<WebhooksBed> {
  const bed = await testBed(t, { webhooks }, { ...options, config: { webhooks: environment } })
  const setUrl = ({ operatorId, environment }: Scope, url: string) =>
    bed.agreed(setWebhookUrl, { input: { operatorId, environment, url } })
  return {
    bed,
    setUrl,
    async operator(url, overrides) {
      operators += 1
      const scope = bed.scope({ operatorId: `op_${operators}`, brandId: `brd_${operators}`, ...overrides })
      const { webhookSecret } = await bed.rpc.call(provisionWebhook, { scope, input: { operatorName: 'Acme' } })
      if (url !== undefined) await setUrl(scope, url)
      return { scope, secret: webhookSecret ?? '' }
    },
    async emit(scope) {
      const event = depositConfirmed(scope)
      await publish(await bed.nats('payments'), event)
      return event
    },
    endpoint: (scope) => endpointOf(bed, scope),
    story: (id) => storyOf(bed, id),
    async hold(t, query, id) {
      const client = await bed.sql('webhooks').connect()
      t.teardown(() => client.release())
      await client.query('begin')
      await client.query(query, [id])
      const letGo = async () => void (await client.query('rollback'))
      t.teardown(letGo)
      return letGo
    },
  }
}

function endpointOf(bed: Bed, { operatorId, environment }: Scope) {
  return bed.team('alice').call(showWebhook, { input: { operatorId, environment } })
}

function storyOf(bed: Bed, id: string) {
  return bed.team('alice').call(showDelivery, { input: { id } })
}

/** Publishes with the rights of payments; the id is also what JetStream de-duplicates by. */
export async function publish(connection: NatsConnection, event: EventMessage, messageId = event.id): Promise<void> {
  await jetstream(connection).publish(eventSubject(event.type), JSON.stringify(event), { msgID: messageId })
}
