import { type Static, Type } from '@sinclair/typebox'
import { Currency, EnvironmentName, Id, KycStatus, Money, Player, PlayerStatus, Timestamp } from '../resources.ts'
import { closed, Nullable } from '../schema.ts'

/** What other services must know of a player before they take or give money. Read for each request, never cached. */
export const PlayerStanding = Type.Object(
  {
    playerId: Id,
    currency: Currency,
    status: PlayerStatus,
    kycStatus: KycStatus,
    selfExcluded: Type.Boolean({ description: 'A self-exclusion is running now, whatever the status says.' }),
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
    timeZone: Type.String(),
    kycDecidedAt: Nullable(Timestamp),
    kycReason: Nullable(Type.String()),
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

export const PlayerChange = Type.Object(
  {
    at: Timestamp,
    actor: Type.String(),
    field: Type.String(),
    from: Nullable(Type.String()),
    to: Nullable(Type.String()),
    reason: Nullable(Type.String()),
  },
  closed,
)
