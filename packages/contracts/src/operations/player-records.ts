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
import { closed, described, Nullable, text } from '../schema.ts'

/** What other services must know of a player before they take or give money. Read for each request, never cached. */
export const PlayerStanding = Type.Object(
  {
    playerId: Id,
    currency: Currency,
    status: PlayerStatus,
    kycStatus: KycStatus,
    dailyDepositLimit: Nullable(Money),
  },
  closed,
)
export type PlayerStanding = Static<typeof PlayerStanding>

/** A player as the team sees it. */
export const TeamPlayer = Type.Object(
  {
    ...Player.properties,
    operatorId: Id,
    brandId: Id,
    environment: EnvironmentName,
    timeZone: text(64),
    statusSet: described(PlayerStatus, 'What was set. It is the status again when no self-exclusion runs.'),
    excludedBy: Nullable(personal('player', Id), {
      description: 'By which player the person is self-excluded: this one, or another of the brand with the same CPF.',
    }),
    kycDecidedAt: Nullable(Timestamp),
    kycReason: Nullable(Note),
    kycExpiresAt: Nullable(Timestamp, { description: 'When the approval ends by itself. Null: it does not.' }),
    selfExclusion: Nullable(
      Type.Object({ from: Timestamp, until: Nullable(Timestamp, { description: 'Null: for good.' }) }, closed),
    ),
    dailyDepositLimit: Nullable(Money),
    /** A raise or removal that waits for the end of its cooling-off. */
    pendingLimit: Nullable(Type.Object({ dailyDepositLimit: Nullable(Money), from: Timestamp }, closed)),
  },
  closed,
)
export type TeamPlayer = Static<typeof TeamPlayer>

/** What a person of the team gives to read values that are masked otherwise. It works for one player at a time. */
export const unmaskFields = {
  unmask: Type.Optional(
    Type.Boolean({ description: 'Show what is masked; needs a reason, and compliance, finance or auditor.' }),
  ),
  reason: Type.Optional(Reason),
}

/** As long as a template and a percent-encoded reference, with the signature. */
const documentUrlMax = 4_096

/** A submission as the team sees it. */
export const TeamSubmission = Type.Object(
  {
    ...KycSubmission.properties,
    documentUrl: Type.Optional(
      Nullable(personal('document', text(documentUrlMax)), {
        description:
          'Where the document opens, for 15 minutes. Null: its operator has no address for documents, or you do not review them.',
      }),
    ),
  },
  closed,
)

/** Who of the team has taken an identity check, and until when that counts. */
export const TakenCase = Type.Object({ by: personal('staff', text(254)), at: Timestamp, until: Timestamp }, closed)
export type TakenCase = Static<typeof TakenCase>

/** Null: nobody has it. */
export const takenField = { taken: Nullable(TakenCase) }

/** Where an operator's documents open. The key that signs the links is never in it. */
export const DocumentSource = Type.Object(
  {
    operatorId: Id,
    environment: EnvironmentName,
    template: Nullable(text(500), { description: 'Null: the links are switched off.' }),
    keyCreatedAt: Nullable(Timestamp, { description: 'Null: there is no key yet.' }),
  },
  closed,
)
export type DocumentSource = Static<typeof DocumentSource>

export const PlayerChange = Type.Object(
  {
    at: Timestamp,
    actor: personal('staff', text(254)),
    field: text(64),
    from: Nullable(text(200)),
    to: Nullable(text(200)),
    reason: Nullable(Note),
  },
  closed,
)

/** A game that was opened. Its address is not in it: whoever has that can play. */
export const OpenedSession = Type.Object(
  {
    id: Id,
    playerId: Id,
    brandId: Id,
    gameId: text(128),
    gameName: Nullable(text(200), { description: 'Null: no longer in the catalogue.' }),
    mode: GameSession.properties.mode,
    createdAt: Timestamp,
    expiresAt: Timestamp,
  },
  closed,
)
