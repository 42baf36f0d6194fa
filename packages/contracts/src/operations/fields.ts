import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { listedDays } from '../limits.ts'
import { EnvironmentName, Id, PathId, Timestamp } from '../resources.ts'
import { homologationCheckNames } from '../sandbox.ts'
import { described, Nullable, object, oneOf, text } from '../schema.ts'

export const PlayerPath = object({ playerId: described(PathId, 'Id of the player, as we gave it.') })
export const DepositPath = object({ depositId: described(PathId, 'Id of the deposit.') })
export const WithdrawalPath = object({ withdrawalId: described(PathId, 'Id of the withdrawal.') })

/** Whose records a list of the team's shows. A brand is one operator in one environment. */
export const ownerFields = {
  operatorId: Type.Optional(Id),
  brandId: Type.Optional(Id),
  environment: Type.Optional(described(EnvironmentName, 'Only records of this environment; both when absent.')),
}

/** Null: the gateway, which knows the names, did not answer. */
export const operatorNameField = { operatorName: Nullable(text(64)) }

/** How many records wait in a queue, and since when the oldest of them does. */
const waitingFields = {
  environment: EnvironmentName,
  waiting: Type.Integer({ minimum: 0 }),
  oldestAt: Nullable(Timestamp, { description: 'Since when the oldest one waits. Null: none waits.' }),
}

/** The state of queues, with a line for each environment, also for those in which nothing waits. */
export const queueState = <Fields extends Record<string, TSchema>>(fields: Fields) =>
  object({ data: Type.Array(object({ ...fields, ...waitingFields }), { maxItems: 20 }) })

/** Where a page of a list begins. */
export const cursorField = Type.Optional(
  Type.String({ minLength: 1, maxLength: 256, description: 'The cursor of the page before.' }),
)

/**
 * The period of a list, by what its records begin with, as `Created`.
 * @param owner whose list is not bounded
 */
export const periodFields = (begun: string, owner: string) => ({
  from: Type.Optional(
    described(
      Timestamp,
      `${begun} at this time or later. Without it, and without ${owner} and a player, the list goes back ${listedDays} days.`,
    ),
  ),
  to: Type.Optional(described(Timestamp, `${begun} before this time.`)),
})

/**
 * What a decision is about, as it was shown to whoever signs it: a person, or a machine that has read it. What has no such
 * field makes something new, or says everything in its input.
 */
export const seenField = <Shown extends TProperties>(shown: Shown) => ({
  seen: object(shown, { description: 'What was shown. When it is something else, the call is refused.' }),
})

/** A check of homologation that is proved, by what, and when that was seen first. */
export const HomologationProof = object({
  check: oneOf(homologationCheckNames),
  at: Timestamp,
  proof: text(128, { description: 'The id of a request or of a delivery, or a key.' }),
})

/** What an operator's sandbox traffic has proved. */
export const Homologation = object({
  operatorId: Id,
  name: text(64),
  proved: Type.Integer({ description: 'Of all checks.' }),
  isLive: Type.Boolean({ description: 'It has a pair of production.' }),
  webhooksAnswered: Type.Boolean({ description: 'False: what webhooks have proved lately is not known.' }),
  checks: Type.Array(
    object({
      check: HomologationProof.properties.check,
      toDo: text(256),
      guide: text(512, { description: 'Where the documentation explains it.' }),
      firstAt: Nullable(Timestamp, { description: 'Null: it is not proved yet.' }),
      lastAt: Nullable(Timestamp, { description: 'Exact to an hour.' }),
      proof: Nullable(HomologationProof.properties.proof),
    }),
    { maxItems: 50 },
  ),
})
