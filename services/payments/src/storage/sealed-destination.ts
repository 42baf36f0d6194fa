import type { Place, ReadDb, SealedTable, Vault } from '@backoffice/service-runtime'
import { forgotten } from './player-records.ts'

/** Where a withdrawal is paid to, as it is stored: in the clear column, or sealed and the clear column empty. */
export interface StoredDestination {
  readonly destination: string
  readonly sealedDestination: string | null
}

const nothing = ''

const placeOf = (withdrawalId: string): Place => ({ column: 'withdrawal.sealed_destination', row: withdrawalId })

/** The columns of a destination as they are written now. */
export function storedDestination(vault: Vault, withdrawalId: string, destination: string): StoredDestination {
  if (!vault.seals) return { destination, sealedDestination: null }
  return { destination: nothing, sealedDestination: vault.seal(destination, placeOf(withdrawalId)) }
}

/** The destination that columns stand for. */
export const destinationOf = (vault: Vault, withdrawalId: string, stored: StoredDestination): string =>
  stored.sealedDestination === null ? stored.destination : vault.open(stored.sealedDestination, placeOf(withdrawalId))

/** Withdrawals as they are known outside of the table. */
export const opened = <Row extends { readonly id: string; readonly destination: string }>(
  { vault }: ReadDb,
  rows: readonly (Row & StoredDestination)[],
): Row[] =>
  rows.map(({ sealedDestination, ...row }) => {
    const destination = destinationOf(vault, row.id, { destination: row.destination, sealedDestination })
    return { ...row, destination } as unknown as Row
  })

const columns = 'destination text, sealed_destination text'

export const sealedWithdrawals: SealedTable = {
  table: 'withdrawal',
  key: 'id text',
  reads: columns,
  writes: columns,
  renew({ id, destination, sealedDestination }, vault) {
    if (sealedDestination === null)
      return vault.seals && destination !== forgotten ? storedDestination(vault, id, destination) : null
    const renewed = vault.renew(sealedDestination, placeOf(id))
    return renewed === null ? null : { destination: nothing, sealedDestination: renewed }
  },
}
