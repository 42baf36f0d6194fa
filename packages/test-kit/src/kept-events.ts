import type { ServiceName } from '@backoffice/contracts'

/** All events of a service as a table of a statement: those that wait in its outbox and those that were published. */
export const keptEvents = (service: ServiceName): string => `(
  select id, message from ${service}.outbox where kind = 'event'
  union all
  select id, message from ${service}.published_event
) as kept`
