import { operations, type ServiceName } from '@backoffice/contracts'
import { type Direct, type Handler, handle } from './handle.ts'
import { findKnown, insertTombstone } from './reply.ts'
import { keepBrand } from './runner.ts'

type Abandon = Direct<(typeof operations)['gateway']['abandonOperation']>

/**
 * Replies with what is stored under an operation id. If there is nothing, it writes a tombstone, so that a late message
 * with that id is refused.
 */
const abandon: Abandon = async ({ input: { abandonedOperationId: operationId } }, { db }) => {
  await insertTombstone(db, operationId)
  const known = (await findKnown(db, [operationId])).known.get(operationId)
  if (known === undefined || known.abandoned || known.reply === null) return { outcome: 'abandoned', reply: null }
  return 'error' in known.reply
    ? { outcome: 'refused', reply: known.reply.error }
    : { outcome: 'replied', reply: known.reply.body }
}

/** The operations of the runtime itself, which other services call. */
export function builtInHandlers(service: ServiceName): Handler[] {
  // Each service has them in its own table. They differ in the service's name alone.
  const table = operations[service] as (typeof operations)['gateway']
  return [
    handle(table.abandonOperation, abandon),
    handle(table.registerBrand, async ({ scope }, { db }) => {
      await keepBrand(db, scope)
      return { brandId: scope.brandId }
    }),
  ]
}
