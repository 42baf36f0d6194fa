import {
  cpfDigits,
  type IdPrefix,
  type Input,
  invalid,
  type KycStatus,
  type operations,
  type PlayerStatus,
  type Scope,
} from '@backoffice/contracts'
import { calendarDay, isAdult } from './age.ts'
import { isAnonymised } from './anonymity.ts'

/** A player as it is stored. */
export interface PlayerRecord extends Readonly<Scope> {
  readonly id: string
  readonly externalId: string
  readonly name: string
  readonly email: string
  readonly cpf: string
  readonly phone: string | null
  /** As YYYY-MM-DD. */
  readonly birthDate: string
  readonly status: PlayerStatus
  readonly kycStatus: KycStatus
  /** Rises with each change of the KYC status: receivers of events drop what is older. */
  readonly kycVersion: number
  readonly kycDecidedAt: Date | null
  readonly kycReason: string | null
  /** When the approval ends by itself. Null: it does not, or there is none. */
  readonly kycExpiresAt: Date | null
  readonly selfExcludedFrom: Date | null
  /** Null while `selfExcludedFrom` is set means for good. */
  readonly selfExcludedUntil: Date | null
  /** In minor units; null means no limit. */
  readonly dailyDepositLimit: bigint | null
  readonly pendingLimit: bigint | null
  /** When the pending limit takes effect. Without a pending limit it is when the limit is removed. */
  readonly pendingLimitFrom: Date | null
  readonly createdAt: Date
}

/** The result of a change: the record as it is now, and what has changed, which is nothing when it was so before. */
export interface Changed<P> {
  readonly player: P
  readonly change: FieldChange | null
}

export interface FieldChange {
  readonly field: 'status' | 'kycStatus' | 'selfExclusion' | 'dailyDepositLimit' | 'identity'
  readonly previous: string | null
  readonly next: string | null
}

/**
 * A new player, who may do everything that needs no identity check.
 * @throws {Rejection} VALIDATION_ERROR when the player is not over 18, by the date where the brand is
 */
export function register(
  request: Input<typeof operations.players.registerPlayer>,
  { operatorId, brandId, environment, currency, timeZone }: Scope,
  { now, newId }: { readonly now: Date; readonly newId: (prefix: IdPrefix) => string },
): PlayerRecord {
  if (!isAdult(request.birthDate, calendarDay(now, timeZone)))
    throw invalid('body', '/birthDate', 'the player must be over 18')
  const { externalId, name, email, cpf, phone = null, birthDate } = request
  return {
    ...{ id: newId('ply'), operatorId, brandId, environment, currency, timeZone },
    ...{ externalId, name, email, cpf: cpfDigits(cpf) ?? cpf, phone, birthDate },
    ...{
      status: 'ativo',
      kycStatus: 'nao_iniciado',
      kycVersion: 1,
      kycDecidedAt: null,
      kycReason: null,
      kycExpiresAt: null,
    },
    ...{ selfExcludedFrom: null, selfExcludedUntil: null },
    ...{ dailyDepositLimit: null, pendingLimit: null, pendingLimitFrom: null },
    createdAt: now,
  }
}

/**
 * Sets the status, which says what a player may do now. A self-exclusion by dates goes on whatever the status is.
 * @throws {Rejection} VALIDATION_ERROR for an anonymised player, who stays `encerrado`: nobody knows whose it would be
 */
export function setStatus<P extends Pick<PlayerRecord, 'status' | 'cpf'>>(player: P, next: PlayerStatus): Changed<P> {
  const { status: previous } = player
  if (previous === next) return { player, change: null }
  if (isAnonymised(player)) throw invalid('body', '/status', 'an anonymised player stays encerrado')
  return { player: { ...player, status: next }, change: { field: 'status', previous, next } }
}
