import { apiVersion, type EventMessage, events, type Scope } from '@backoffice/contracts'
import { newId } from '@backoffice/process'

/** A confirmed deposit's event, as payments would emit it, without the deposit. */
export function depositConfirmed({ operatorId, brandId, environment }: Scope): EventMessage<'deposit.confirmed'> {
  return {
    id: newId('evt'),
    type: 'deposit.confirmed',
    apiVersion,
    environment,
    operatorId,
    brandId,
    createdAt: new Date().toISOString(),
    data: events['deposit.confirmed'].example as EventMessage<'deposit.confirmed'>['data'],
  }
}
