// Records.

import { randomBytes } from 'node:crypto'
import type { IdOf } from '@backoffice/contracts'
import type { Place, Vault } from '@backoffice/database/vault'
import { type Db, type ReadDb, sql } from '@backoffice/service-runtime'
import type { SealedTable } from '@backoffice/team-access'
import { comparableDestination, type PaymentKey } from './withdrawal.ts'

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

/** What the same destination is found by, however it is stored. It is written and compared, and never read with a row. */
interface DestinationDigest {
  readonly destinationDigest: string | null
}

/** The columns of a destination as they are written now. */
export function storedDestination(
  vault: Vault,
  withdrawalId: IdOf<'withdrawal'>,
  { method, destination }: PaymentKey,
): StoredDestination & DestinationDigest {
  const digest = newestDigest(vault, { method, destination })
  if (!vault.seals) return { destination, sealedDestination: null, ...digest }
  const sealedDestination = vault.seal(newSalt() + destination, placeOf(withdrawalId))
  return { destination: nothing, sealedDestination, ...digest }
}

/** Of one destination, one under each master key, the newest first. */
export const digestsOf = (vault: Vault, key: PaymentKey): readonly string[] =>
  vault.lookupDigests(comparableDestination(key), 'withdrawal.destination_digest')

function newestDigest(vault: Vault, key: PaymentKey): DestinationDigest {
  const [destinationDigest = null] = digestsOf(vault, key)
  return { destinationDigest }
}

const newSalt = (): string => randomBytes(16).toString('base64url')

/** The destination that columns stand for. */
export function destinationOf(vault: Vault, withdrawalId: IdOf<'withdrawal'>, stored: StoredDestination): Destination {
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

const columns = 'destination text, sealed_destination text, destination_digest text'

export const sealedWithdrawals: SealedTable = {
  table: 'withdrawal',
  key: 'id text',
  reads: `method text, ${columns}`,
  writes: columns,
  renew({ id, method, destination, sealedDestination, destinationDigest }, vault) {
    // The release before forgets a destination without its digest.
    if (sealedDestination === null && destination === forgottenDestination)
      return destinationDigest === null ? null : { destination, sealedDestination, destinationDigest: null }
    if (sealedDestination === null) return vault.seals ? storedDestination(vault, id, { method, destination }) : null
    const renewed = vault.renew(sealedDestination, placeOf(id))
    if (renewed === null && !vault.seals) return null
    const opened = destinationOf(vault, id, { destination, sealedDestination })
    // A release may compare otherwise than the one that wrote it.
    const digest = newestDigest(vault, { method, destination: opened.destination })
    if (renewed === null && digest.destinationDigest === destinationDigest) return null
    return { destination: nothing, sealedDestination: renewed ?? sealedDestination, ...digest }
  },
}

export interface PlayerOfBrand {
  readonly brandId: IdOf<'brand'>
  readonly playerId: IdOf<'player'>
}

/** A trigger of the table allows this text alone. */
export const forgottenDestination = 'anonymised'

/** Of withdrawals that have ended. One that is open still has to be paid. */
export async function forgetDestinations(db: Db, { brandId, playerId }: PlayerOfBrand): Promise<void> {
  await db`
    update withdrawal set destination = ${forgottenDestination}, sealed_destination = null, destination_digest = null
    where player_id = ${playerId} and brand_id = ${brandId} and destination <> ${forgottenDestination}
      and status not in ('intent', 'under_review', 'approved')
  `
}

interface AskedDestination extends PlayerOfBrand, PaymentKey {
  /** Of a withdrawal. */
  readonly id: string
}

/**
 * The other players of the brand with a withdrawal to the same destination, whatever became of it, by the id of each of these
 * withdrawals. An index is gone through from one player to the next, so the many withdrawals of one are not read.
 * @param max so many of each are looked for
 */
export async function readOtherPlayers(
  db: ReadDb,
  withdrawals: readonly AskedDestination[],
  max: number,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const asked = withdrawals.flatMap(({ id, brandId, playerId, ...key }) =>
    digestsOf(db.vault, key).map((digest) => ({ id, brandId, playerId, digest })),
  )
  const isSame = sql`
    w.brand_id = asked.brand_id and w.destination_digest = asked.digest and w.destination_digest is not null and w.version > 0
  `
  const rows = await db<{ id: string; playerId: string }>`
    select asked.id, other.player_id
    from ${sql.unnest('asked', asked, 'id text, brand_id text, player_id text, digest text')}
    cross join lateral (
      with recursive player (player_id, found) as (
        (select w.player_id, 1 from withdrawal w where ${isSame} order by w.player_id limit 1)
        union all
        select next.player_id, player.found + 1 from player cross join lateral (
          select w.player_id from withdrawal w where ${isSame} and w.player_id > player.player_id order by w.player_id limit 1
        ) next
        -- The player of this withdrawal may be among them.
        where player.found <= ${max}
      )
      select player_id from player where player_id <> asked.player_id
    ) other
  `
  // While keys are changed, a player may be found by two digests.
  const found = Map.groupBy(rows, ({ id }) => id)
  return new Map(
    [...found].map(([id, others]) => [id, [...new Set(others.map(({ playerId }) => playerId))].sort().slice(0, max)]),
  )
}
