import { invalid, type Operation, operations, type ServiceName } from '@backoffice/contracts'
import { keepBrand } from '../database/remembered.ts'
import { renewSealed, type SealedTable } from '../database/sealed-tables.ts'
import { readAudit, recordAction } from './audit.ts'
import { exportAudit } from './export-audit.ts'
import { type Direct, type Handler, handle } from './handle.ts'
import { findKnown, insertTombstone } from './reply.ts'
import { readCommands } from './stuck-commands.ts'
import { readMembers } from './team-sessions.ts'
import { declineProposal, readProposals } from './two-people.ts'

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

type RegisterBrand = Direct<(typeof operations)['gateway']['registerBrand']>

const registerBrand: RegisterBrand = async ({ scope }, { db }) => {
  await keepBrand(db, scope)
  return { brandId: scope.brandId }
}

type SealStoredData = Direct<(typeof operations)['gateway']['sealStoredData']>

/** Its first call stands for all of them in the audit trail. */
const sealStoredData =
  (service: ServiceName, tables: readonly SealedTable[]): SealStoredData =>
  async (call, { db, now }) => {
    const { after } = call.input
    if (after === undefined) await recordAction(db, operations[service].sealStoredData, call, now)
    return renewSealed(db, tables, after).catch((error) => {
      throw error instanceof SyntaxError || error instanceof RangeError
        ? invalid('body', '/after', 'is no cursor')
        : error
    })
  }

/**
 * The operations that every service has.
 * @param own what the service has besides, some of which take two people
 */
export function builtInHandlers(
  service: ServiceName,
  own: readonly Operation[],
  sealedTables: readonly SealedTable[] = [],
): Handler[] {
  // Each service has them in its own table. They differ in the service's name alone.
  const table = operations[service] as (typeof operations)['gateway']
  return [
    handle(table.abandonOperation, abandon),
    handle(table.registerBrand, registerBrand),
    handle(table.listAudit, readAudit),
    handle(table.exportAudit, exportAudit(service)),
    handle(table.listSessions, readMembers),
    handle(table.listCommands, readCommands),
    handle(table.listProposals, readProposals),
    handle(table.declineProposal, declineProposal(own)),
    handle(table.sealStoredData, sealStoredData(service, sealedTables)),
  ]
}
