import { Rejection } from '@backoffice/contracts'
import type { Changed, PlayerRecord } from './player.ts'
import { isSelfExcluded } from './responsible-gaming.ts'

/** What other services and the history say about a player. */
export interface Obligations {
  /** In minor units. */
  readonly posted: bigint
  readonly held: bigint
  readonly openDeposits: number
  readonly openWithdrawals: number
  /** The last change of anything that is kept about the player. */
  readonly lastChangeAt: Date
}

/** Why the data of a player may not be replaced yet. */
type Need = 'status' | 'self_exclusion' | 'money' | 'deposits' | 'withdrawals' | 'retention'

/** No real person has such a name, number or birth date. */
const nobody = {
  name: 'anonymised',
  email: 'anonymised@anonymised.invalid',
  cpf: '00000000000',
  phone: null,
  birthDate: '1900-01-01',
  kycReason: null,
} as const

const externalIdOf = (id: string) => `anonymised-${id}`

export const isAnonymised = ({ id, externalId }: Pick<PlayerRecord, 'id' | 'externalId'>) =>
  externalId === externalIdOf(id)

/**
 * Replaces everything that identifies the person. Nothing can bring it back. A player that is anonymised already stays as
 * it is.
 * @param keepYears how long the law asks to keep the records, from the last change on
 * @throws {Rejection} PLAYER_DATA_NEEDED with all reasons
 */
export function anonymise(
  player: PlayerRecord,
  obligations: Obligations,
  { now, keepYears }: { readonly now: Date; readonly keepYears: number },
): Changed<PlayerRecord> {
  if (isAnonymised(player)) return { player, change: null }
  const keptUntil = yearsAfter(obligations.lastChangeAt, keepYears)
  const needs: Readonly<Record<Need, boolean>> = {
    status: player.status !== 'encerrado',
    self_exclusion: isSelfExcluded(player, now),
    money: obligations.posted !== 0n || obligations.held !== 0n,
    deposits: obligations.openDeposits > 0,
    withdrawals: obligations.openWithdrawals > 0,
    retention: now < keptUntil,
  }
  const reasons = Object.entries(needs).flatMap(([need, isNeeded]) => (isNeeded ? [need] : []))
  if (reasons.length > 0) throw new Rejection('PLAYER_DATA_NEEDED', { reasons, keptUntil: keptUntil.toISOString() })
  return {
    player: { ...player, ...nobody, externalId: externalIdOf(player.id) },
    change: { field: 'identity', previous: null, next: 'anonymised' },
  }
}

function yearsAfter(date: Date, years: number): Date {
  const later = new Date(date)
  later.setUTCFullYear(later.getUTCFullYear() + years)
  return later
}
