import type { ServiceName } from '@backoffice/contracts'
import { type LoggedMessage, readLogged } from '@backoffice/service-runtime'
import type pg from 'pg'

/**
 * All events of a service as a table of a statement: those that wait in its outbox and those that were published. Of what
 * is compressed the message has hardly more than the id of the record.
 */
export const keptEvents = (service: ServiceName): string => `(
  select id, message, null::bytea as copy from ${service}.outbox where kind = 'event'
  union all
  select id, message, copy from ${service}.published_event
) as kept`

// biome-ignore lint/suspicious/noExplicitAny: a test knows what its events carry
type AnyMessage = any

/** The messages of all events of a service, oldest first, as far as they are not sealed. */
export async function keptMessages(
  client: Pick<pg.Pool, 'query'>,
  service: ServiceName,
): Promise<{ readonly id: string; readonly message: AnyMessage }[]> {
  const { rows } = await client.query<LoggedMessage>(`select id, message, copy from ${keptEvents(service)} order by id`)
  return rows.map((row) => ({ id: row.id, message: readLogged(row) }))
}
