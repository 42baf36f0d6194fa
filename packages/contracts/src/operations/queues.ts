import { type TSchema, Type } from '@sinclair/typebox'
import { EnvironmentName, Id, Timestamp } from '../resources.ts'
import { closed, described, Nullable, text } from '../schema.ts'

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
  Type.Object({ data: Type.Array(Type.Object({ ...fields, ...waitingFields }, closed), { maxItems: 20 }) }, closed)
