import type { ServiceName } from '@backoffice/contracts'
import type pg from 'pg'

/** All events of a service as a table of a statement: those that wait in its outbox and those that were published. */
export const keptEvents = (service: ServiceName): string => `(
  select id, message from ${service}.outbox where kind = 'event'
  union all
  select id, message from ${service}.published_event
) as kept`

// biome-ignore lint/suspicious/noExplicitAny: a test knows what its events carry
type AnyMessage = any

/** The messages of all events of a service, oldest first, as far as they are not sealed. */
export async function keptMessages(
  client: Pick<pg.Pool, 'query'>,
  service: ServiceName,
): Promise<{ readonly id: string; readonly message: AnyMessage }[]> {
  return (await client.query(`select id, message from ${keptEvents(service)} order by id`)).rows
}
