import assert from 'node:assert/strict'
import { type LedgerType, ledgerCauses } from '@backoffice/contracts'

/**
 * A transfer has one entry on a player's account, so an entry's public id is its transfer's with another prefix.
 */
export const ledgerItemId = (transferId: string): string => withPrefix('led', transferId)

/** The transfer behind a ledger item; a transfer's own id is taken as it is. */
export const transferIdOf = (id: string): string => (id.startsWith('led_') ? withPrefix('trf', id) : id)

function withPrefix(prefix: string, id: string): string {
  const separator = id.indexOf('_')
  assert(separator > 0, 'an id has a prefix')
  return `${prefix}${id.slice(separator)}`
}

/** What caused an entry, and its id there: a deposit's, a withdrawal's, or the reference that the team gave. */
export const causeOf = ({ type, reference }: { readonly type: LedgerType; readonly reference: string }) => ({
  type: ledgerCauses[type],
  id: reference,
})
