import { type IdPrefix, Rejection } from '@backoffice/contracts'
import type { Changed, PlayerRecord } from './player.ts'

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

/** Time and ids are passed in. */
interface Given {
  readonly now: Date
  readonly newId: (prefix: IdPrefix) => string
}

/** Why the data of a player may not be replaced yet. */
type Need = 'status' | 'self_exclusion' | 'money' | 'deposits' | 'withdrawals' | 'retention'

/** No real person has such a name, number or birth date; no player is registered with that CPF. */
const nobody = {
  name: 'anonymised',
  email: 'anonymised@anonymised.invalid',
  cpf: '00000000000',
  phone: null,
  birthDate: '1900-01-01',
  kycReason: null,
} as const

export const isAnonymised = ({ cpf }: Pick<PlayerRecord, 'cpf'>) => cpf === nobody.cpf

/**
 * Replaces everything that identifies the person. Nothing can bring it back. A player that is anonymised already stays as
 * it is.
 * @param keepYears how long the law asks to keep the records, from the last change on
 * @param isExcluded whether a self-exclusion of the person runs
 * @throws {Rejection} PLAYER_DATA_NEEDED with all reasons
 */
export function anonymise(
  player: PlayerRecord,
  obligations: Obligations,
  { now, newId, keepYears, isExcluded }: Given & { readonly keepYears: number; readonly isExcluded: boolean },
): Changed<PlayerRecord> {
  if (isAnonymised(player)) return { player, change: null }
  const keptUntil = yearsAfter(obligations.lastChangeAt, keepYears)
  const needs: Readonly<Record<Need, boolean>> = {
    status: player.status !== 'encerrado',
    // As long as it runs, the person must be known by the CPF.
    self_exclusion: isExcluded,
    money: obligations.posted !== 0n || obligations.held !== 0n,
    deposits: obligations.openDeposits > 0,
    withdrawals: obligations.openWithdrawals > 0,
    retention: now < keptUntil,
  }
  const reasons = Object.entries(needs).flatMap(([need, isNeeded]) => (isNeeded ? [need] : []))
  if (reasons.length > 0) throw new Rejection('PLAYER_DATA_NEEDED', { reasons, keptUntil: keptUntil.toISOString() })
  return {
    // A new id, so that no operator can have registered another player under it.
    player: { ...player, ...nobody, externalId: `anonymised-${newId('ply')}` },
    change: { field: 'identity', previous: null, next: 'anonymised' },
  }
}

function yearsAfter(date: Date, years: number): Date {
  const later = new Date(date)
  later.setUTCFullYear(later.getUTCFullYear() + years)
  return later
}
