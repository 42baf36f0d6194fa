import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { personal } from '../personal.ts'
import { Currency, Deposit, EnvironmentName, Id, Money, Note, Player, Timestamp, Withdrawal } from '../resources.ts'
import { arrayOf, described, Nullable, object, text } from '../schema.ts'
import { AccountId } from './runtime.ts'

/** Who made a change: the operator over the API, a person of the team, or the sandbox decision route. */
export const TransitionActor = object({
  kind: Type.Union([Type.Literal('operator'), Type.Literal('team'), Type.Literal('sandbox')]),
  /** The person's name; the operator's id otherwise. */
  name: personal('staff', text(254)),
  /** Of a person: their account at the identity provider. */
  id: Type.Optional(AccountId),
})
export type TransitionActor = Static<typeof TransitionActor>

/** One change of status, from the creation (`from` null) on. */
export const Transition = object({
  version: Type.Integer({ minimum: 1 }),
  from: Nullable(text(32)),
  to: text(32),
  at: Timestamp,
  by: TransitionActor,
  reason: Nullable(Note),
})
export type Transition = Static<typeof Transition>

/** What the team sees of a record besides its public fields. */
const teamFields = {
  operatorId: Id,
  brandId: Id,
  environment: EnvironmentName,
  timeZone: text(64),
  version: Type.Integer({ minimum: 1 }),
  /** Whether the wallet still has to do its part of the last transition. Until then `status` is the former one. */
  settling: Type.Boolean(),
}

/** In lists: who made the last change. */
const changedBy = Type.Optional(Nullable(TransitionActor))

export const TeamDeposit = object({ ...Deposit.properties, ...teamFields, changedBy })
export type TeamDeposit = Static<typeof TeamDeposit>

export const TeamWithdrawal = object({
  ...Withdrawal.properties,
  ...teamFields,
  /** Null before that, and when the sandbox route approved it. */
  approvedBy: Nullable(personal('staff', text(64))),
  changedBy,
})
export type TeamWithdrawal = Static<typeof TeamWithdrawal>

/** Null: players, which knows the names, did not answer. */
export const playerNameField = Type.Optional(Nullable(Player.properties.name))

/** So many other players of one destination are counted, and so many of them named. */
export const otherPlayersMax = { counted: 20, named: 5 } as const

const OtherPlayers = object(
  {
    count: Type.Integer({
      minimum: 0,
      maximum: otherPlayersMax.counted,
      description: `Counted up to ${otherPlayersMax.counted}.`,
    }),
    players: arrayOf(otherPlayersMax.named, { playerId: Id, playerName: playerNameField }),
  },
  {
    description:
      'Players of the same brand who have, or had, a withdrawal to the same destination, whatever became of it. The first of them are named.',
  },
)

/** What records add up to, each status for itself: a failed deposit is no money. */
export const sumsOf = <Status extends TSchema>(status: Status) =>
  object({
    data: arrayOf(1_000, { status, currency: Currency, count: Type.Integer({ minimum: 1 }), amount: Money }),
    isWhole: Type.Boolean({ description: 'False: there are more records than were read.' }),
  })

const CountAndSum = object({ count: Type.Integer({ minimum: 0 }), amount: Money })

/** What of a player's past helps to decide about a withdrawal. */
export const WithdrawalFacts = object({
  firstWithdrawal: Type.Boolean({ description: 'No other withdrawal of the player was paid before.' }),
  destinationUsedBefore: Type.Boolean({
    description: "Another one of the player's, of the last 50 that were paid before, went to the same destination.",
  }),
  otherPlayers: Type.Optional(OtherPlayers),
  deposits30Days: described(CountAndSum, 'Deposits that were begun in the last 30 days and confirmed.'),
  withdrawals30Days: described(CountAndSum, 'Withdrawals that were paid in the last 30 days, without this one.'),
})
export type WithdrawalFacts = Static<typeof WithdrawalFacts>
