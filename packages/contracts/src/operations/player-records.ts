import { type Static, Type } from '@sinclair/typebox'
import { personal } from '../personal.ts'
import {
  Currency,
  EnvironmentName,
  GameSession,
  Id,
  KycStatus,
  KycSubmission,
  Money,
  Note,
  Player,
  PlayerStatus,
  Reason,
  Timestamp,
} from '../resources.ts'
import { described, Nullable, object, optional, text } from '../schema.ts'

/** What other services must know of a player before they take or give money. Read for each request, never cached. */
export const PlayerStanding = object({
  playerId: Id,
  currency: Currency,
  status: PlayerStatus,
  kycStatus: KycStatus,
  dailyDepositLimit: Nullable(Money),
})
export type PlayerStanding = Static<typeof PlayerStanding>

export const TeamPlayer = object({
  ...Player.properties,
  operatorId: Id,
  brandId: Id,
  environment: EnvironmentName,
  timeZone: text(64),
  statusSet: described(PlayerStatus, 'What was set. It is the status again when no self-exclusion runs.'),
  excludedBy: Nullable(
    personal('player', Id),
    'By which player the person is self-excluded: this one, or another of the brand with the same CPF.',
  ),
  excludedUntil: Type.Optional(
    Nullable(Timestamp, 'When the self-exclusion of the person ends. Null: none runs, or for good.'),
  ),
  kycDecidedAt: Nullable(Timestamp),
  kycReason: Nullable(Note),
  kycExpiresAt: Nullable(Timestamp, 'When the approval ends by itself. Null: it does not.'),
  selfExclusion: Nullable(object({ from: Timestamp, until: Nullable(Timestamp, 'Null: for good.') })),
  dailyDepositLimit: Nullable(Money),
  /** A raise or removal that waits for the end of its cooling-off. */
  pendingLimit: Nullable(object({ dailyDepositLimit: Nullable(Money), from: Timestamp })),
})
export type TeamPlayer = Static<typeof TeamPlayer>

/** What a person of the team gives to read values that are masked otherwise. It works for one player at a time. */
export const unmaskFields = {
  unmask: optional(Type.Boolean(), 'Show what is masked; needs a reason, and compliance, finance or auditor.'),
  reason: Type.Optional(Reason),
}

/** As long as a template and a percent-encoded reference, with the signature. */
const documentUrlMax = 4_096

export const TeamSubmission = object({
  ...KycSubmission.properties,
  salt: text(64, { description: 'Of the digest that a decision names. Empty once the reference is forgotten.' }),
  documentUrl: Type.Optional(
    Nullable(
      personal('document', text(documentUrlMax)),
      'Where the document opens, for 15 minutes. Null: its operator has no address for documents, or you do not review them.',
    ),
  ),
})

/** Who of the team has taken an identity check, and until when that counts. */
export const TakenCase = object({ by: personal('staff', text(254)), at: Timestamp, until: Timestamp })
export type TakenCase = Static<typeof TakenCase>

/** Null: nobody has it. */
export const takenField = { taken: Nullable(TakenCase) }

/** Where an operator's documents open. The key that signs the links is never in it. */
export const DocumentSource = object({
  operatorId: Id,
  environment: EnvironmentName,
  template: Nullable(text(500), 'Null: the links are switched off.'),
  keyCreatedAt: Nullable(Timestamp, 'Null: there is no key yet.'),
})
export type DocumentSource = Static<typeof DocumentSource>

export const PlayerChange = object({
  at: Timestamp,
  /** Of a higher limit, or none: when it begins to hold. */
  effectiveAt: Type.Optional(Timestamp),
  actor: personal('staff', text(254)),
  field: text(64),
  from: Nullable(text(200)),
  to: Nullable(text(200)),
  reason: Nullable(Note),
})

/** A game that was opened. Its address is not in it: whoever has that can play. */
export const OpenedSession = object({
  id: Id,
  playerId: Id,
  brandId: Id,
  gameId: text(128),
  gameName: Nullable(text(200), 'Null: no longer in the catalogue.'),
  mode: GameSession.properties.mode,
  createdAt: Timestamp,
  expiresAt: Timestamp,
})
