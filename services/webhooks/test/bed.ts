import { type EventMessage, eventSubject, operations, type Scope } from '@backoffice/contracts'
import { depositConfirmed, eventually, type Teardown, type TestBed, testBed } from '@backoffice/test-kit'
import { jetstream } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import { webhooks } from '../src/service.ts'

type Bed = TestBed<{ webhooks: typeof webhooks }>
type Options = NonNullable<Parameters<typeof testBed>[2]>
type Story = Awaited<ReturnType<typeof storyOf>>

const { provisionWebhook, setWebhookUrl, showDelivery, showWebhook } = operations.webhooks

/** A delivery as attempts have left it. */
export interface LeftDelivery {
  readonly state: Story['state']
  /** Of the last attempt; null: there was no answer. */
  readonly status?: number | null
  readonly type?: string
}

export interface WebhooksBed {
  readonly bed: Bed
  /** An operator's environment whose webhook has a secret, and a URL if one is given. */
  operator(url?: string, overrides?: Partial<Scope>): Promise<{ scope: Scope; secret: string }>
  /** Publishes an event of the operator's as its service would. */
  emit(scope: Scope): Promise<EventMessage>
  setUrl(scope: Scope, url: string): Promise<unknown>
  endpoint(scope: Scope): ReturnType<typeof endpointOf>
  story(id: string): ReturnType<typeof storyOf>
  /** Waits until a delivery is in a state. @param id its own or its event's */
  becomes(id: string, state: Story['state']): Promise<Story>
  /**
   * Stores deliveries, each received a second after the one before it; those that wait are due in a thousand years.
   * @returns their ids, in that order
   */
  leave(scope: Scope, deliveries: readonly LeftDelivery[], since?: Date): Promise<readonly string[]>
  /** Stores messages that the reaction could not handle. */
  setAside(payloads: readonly string[], subject?: string): Promise<unknown>
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
    becomes: (id, state) =>
      eventually(async () => {
        const told = await storyOf(bed, id)
        return told.state === state && told
      }),
    async leave({ operatorId, environment, brandId }, deliveries, since = new Date(Date.now() - 7_200_000)) {
      const { rows } = await bed.sql('webhooks').query(
        `insert into delivery (id, endpoint_id, event_id, type, brand_id, body, state, event_created_at, received_at,
           next_attempt_at, finished_at, last_response_status, last_error)
         select 'dlv_' || replace($1, '/', '_') || lpad(n::text, 6, '0'), $1, 'evt_' || n, type, $2, '', state, at, at,
           case state when 'pending' then at + interval '1000 years' end, case state when 'pending' then null else at end,
           status, case when state <> 'delivered' then 'It did not take it.' end
         from unnest($3::text[], $4::int[], $5::text[]) with ordinality d (state, status, type, n),
           lateral (select $6::timestamptz + n * interval '1 s' as at) s returning id`,
        [
          `${operatorId}/${environment}`,
          brandId,
          deliveries.map(({ state }) => state),
          deliveries.map(({ status = null }) => status),
          deliveries.map(({ type = 'deposit.confirmed' }) => type),
          since,
        ],
      )
      return rows.map(({ id }) => String(id))
    },
    setAside: (payloads, subject = 'events.deposit.confirmed') =>
      bed.sql('webhooks').query(
        `insert into set_aside_message (consumer, subject, payload, fault, set_aside_at)
         select 'schedule-delivery', $2, payload, 'no room', now() from unnest($1::text[]) as payload`,
        [payloads, subject],
      ),
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
