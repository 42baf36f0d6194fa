// Records.

import { randomBytes } from 'node:crypto'
import type { Db, ReadDb } from '@backoffice/service-runtime'
import type { SealedTable } from '@backoffice/team-desk'
import type { Place, Vault } from '@backoffice/vault'

/** Where a withdrawal is paid to, as it is stored: in the clear column, or sealed and the clear column empty. */
export interface StoredDestination {
  readonly destination: string
  readonly sealedDestination: string | null
}

/** Where a withdrawal is paid to, and the salt of its digest in what people of the team sign. */
export interface Destination {
  readonly destination: string
  /** Sealed before the destination, and forgotten with it. Empty where the destination is stored clear. */
  readonly destinationSalt: string
}

const nothing = ''
/** In base64url: 16 random bytes. */
const saltLength = 22

const placeOf = (withdrawalId: string): Place => ({ column: 'withdrawal.sealed_destination', row: withdrawalId })

/** The columns of a destination as they are written now. */
export function storedDestination(vault: Vault, withdrawalId: string, destination: string): StoredDestination {
  if (!vault.seals) return { destination, sealedDestination: null }
  return { destination: nothing, sealedDestination: vault.seal(newSalt() + destination, placeOf(withdrawalId)) }
}

const newSalt = (): string => randomBytes(16).toString('base64url')

/** The destination that columns stand for. */
export function destinationOf(vault: Vault, withdrawalId: string, stored: StoredDestination): Destination {
  if (stored.sealedDestination === null) return { destination: stored.destination, destinationSalt: '' }
  const text = vault.open(stored.sealedDestination, placeOf(withdrawalId))
  return { destination: text.slice(saltLength), destinationSalt: text.slice(0, saltLength) }
}

/** A withdrawal as its row has it. */
export type StoredRow<Row> = Omit<Row, keyof Destination> & StoredDestination

/** Withdrawals as they are known outside of the table. */
export const openDestinations = <Row extends { readonly id: string } & Destination>(
  { vault }: ReadDb,
  rows: readonly (StoredRow<Row> & { readonly id: string })[],
): Row[] =>
  rows.map(({ sealedDestination, ...row }) => {
    const destination = destinationOf(vault, row.id, { destination: row.destination, sealedDestination })
    return { ...row, ...destination } as unknown as Row
  })

const columns = 'destination text, sealed_destination text'

export const sealedWithdrawals: SealedTable = {
  table: 'withdrawal',
  key: 'id text',
  reads: columns,
  writes: columns,
  renew({ id, destination, sealedDestination }, vault) {
    if (sealedDestination === null)
      return vault.seals && destination !== forgottenDestination ? storedDestination(vault, id, destination) : null
    const renewed = vault.renew(sealedDestination, placeOf(id))
    return renewed === null ? null : { destination: nothing, sealedDestination: renewed }
  },
}

export interface PlayerOfBrand {
  readonly brandId: string
  readonly playerId: string
}

/** A trigger of the table allows this text alone. */
export const forgottenDestination = 'anonymised'

/** Of withdrawals that have ended. One that is open still has to be paid. */
export async function forgetDestinations(db: Db, { brandId, playerId }: PlayerOfBrand): Promise<void> {
  await db`
    update withdrawal set destination = ${forgottenDestination}, sealed_destination = null
    where player_id = ${playerId} and brand_id = ${brandId} and destination <> ${forgottenDestination}
      and status not in ('intent', 'under_review', 'approved')
  `
}
