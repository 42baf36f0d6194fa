import { type TProperties, type TSchema, Type } from '@sinclair/typebox'
import { listedDays } from '../limits.ts'
import { team } from '../operation.ts'
import { EnvironmentName, Id, PathId, Reason, Timestamp } from '../resources.ts'
import { arrayOf, described, listOf, Nullable, object, oneOf, optional, text } from '../schema.ts'

export const PlayerPath = object({ playerId: described(PathId, 'Id of the player, as we gave it.') })
export const DepositPath = object({ depositId: described(PathId, 'Id of the deposit.') })
export const WithdrawalPath = object({ withdrawalId: described(PathId, 'Id of the withdrawal.') })

/** Whose records a list of the team's shows. A brand is one operator in one environment. */
export const ownerFields = {
  operatorId: Type.Optional(Id),
  brandId: Type.Optional(Id),
  environment: optional(EnvironmentName, 'Only records of this environment; both when absent.'),
}

/** Null: the gateway, which knows the names, did not answer. */
export const operatorNameField = { operatorName: Nullable(text(64)) }

/** How many records wait in a queue, and since when the oldest of them does. */
const waitingFields = {
  environment: EnvironmentName,
  waiting: Type.Integer({ minimum: 0 }),
  oldestAt: Nullable(Timestamp, 'Since when the oldest one waits. Null: none waits.'),
}

/** The state of queues, with a line for each environment, also for those in which nothing waits. */
export const queueState = <Fields extends Record<string, TSchema>>(fields: Fields) =>
  listOf(20, { ...fields, ...waitingFields })

/** Where a page of a list begins. */
export const cursorField = optional(Type.String({ minLength: 1, maxLength: 256 }), 'The cursor of the page before.')

/** An operator, a provider of games or a grant: what is suspended begins nothing. */
export const ActiveOrSuspended = Type.Union([Type.Literal('active'), Type.Literal('suspended')])
export const AddressRange = text(49, { pattern: '^[0-9A-Fa-f:.]+(/\\d{1,3})?$' })
export const AllowedAddresses = Type.Array(AddressRange, {
  maxItems: 200,
  description: 'IPv4 or IPv6, with or without a prefix length; empty: any address.',
})
/** A pair, shown once: a replay of the same operation id shows null in the place of the secret. */
export const IssuedKey = object({ key: text(64), secret: Nullable(text(128)), environment: EnvironmentName })
export const RevokedKey = object({ key: text(128), revokedAt: Timestamp })

/** Orders of a queue, the first one unless another is asked for. */
export const ageOrders = ['oldest', 'newest'] as const
export const queueOrders = [...ageOrders, 'largest', 'smallest'] as const
export const orderField = <const Orders extends readonly string[]>(orders: Orders) =>
  optional(oneOf(orders), `What comes first; the ${orders[0]} when absent.`)

/**
 * The period of a list, by what its records begin with, as `Created`.
 * @param owner whose list is not bounded
 */
export const periodFields = (begun: string, owner: string) => ({
  from: optional(
    Timestamp,
    `${begun} at this time or later. Without it, and without ${owner} and a player, the list goes back ${listedDays} days.`,
  ),
  to: optional(Timestamp, `${begun} before this time.`),
})

/**
 * What a decision is about, as it was shown to whoever signs it: a person, or a machine that has read it. What has no such
 * field makes something new, or says everything in its input.
 */
export const seenField = <Shown extends TProperties>(shown: Shown) => ({
  seen: object(shown, { description: 'What was shown. When it is something else, the call is refused.' }),
})

/**
 * What an operator's sandbox traffic can prove before its first pair of production is issued: each with the part of
 * docs/go-live.md that it belongs to, and what an integrator does for it.
 */
export const homologationChecks = {
  signedRequest: ['keys-and-secrets', 'Call GET /me with a valid signature.'],
  keyRotated: [
    'keys-and-secrets',
    'Ask for a second sandbox pair, switch to it, have the first one revoked, and go on calling.',
  ],
  signatureRefused: [
    'requests',
    'Send a wrong signature or time with your key, and then a right one from the same address.',
  ],
  nonAsciiBody: ['requests', 'Register a player named João, in UTF-8 bytes.'],
  replayed: ['requests', 'Send a request again, with the same Idempotency-Key and the same bytes.'],
  conflict: ['requests', 'Send another body under a used Idempotency-Key: it answers 409.'],
  correctedRequest: ['requests', 'After a 422, send the corrected request to the same path under a new key.'],
  playerBlocked: ['errors', 'Trigger RG_BLOCKED, for example with a deposit of 1414.14.'],
  rateLimitObeyed: ['errors', 'Exceed the rate limit, send nothing until Retry-After has ended, and then succeed.'],
  webhookTested: ['webhooks', 'POST /webhooks/test answers "delivered": true.'],
  webhookRedelivered: ['webhooks', 'Answer an event with an error or not at all, and acknowledge a later attempt.'],
  webhookSecretRotated: [
    'webhooks',
    'Have the webhook secret rotated; when the former one has ended, POST /webhooks/test answers "delivered": true.',
  ],
  depositConfirmed: ['money', 'Create a deposit and confirm it.'],
  depositFailed: ['money', 'Create a deposit and fail it.'],
  withdrawalEnded: ['money', 'Take a withdrawal to its end: pay, reject or cancel it.'],
  walletRead: ['money', 'Read a wallet.'],
  statementPaged: ['money', 'Read a second page of transactions, by the cursor of the first one.'],
  duplicatePlayer: ['players', 'Register an externalId twice: PLAYER_ALREADY_EXISTS names the player.'],
  kycDecided: ['players', 'Submit a KYC document, and decide about it in the sandbox.'],
  gameSessionOpened: ['players', 'Open a game session.'],
} as const satisfies Readonly<Record<string, readonly [section: string, toDo: string]>>
export type HomologationCheck = keyof typeof homologationChecks
export const homologationCheckNames = Object.keys(homologationChecks) as readonly HomologationCheck[]

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
  checks: arrayOf(50, {
    check: HomologationProof.properties.check,
    toDo: text(256),
    guide: text(512, { description: 'Where the documentation explains it.' }),
    firstAt: Nullable(Timestamp, 'Null: it is not proved yet.'),
    lastAt: Nullable(Timestamp, 'Exact to an hour.'),
    proof: Nullable(HomologationProof.properties.proof),
  }),
})

/**
 * One service's part of the export of one player, page by page: every row about the player, as it is stored. Copies of
 * these rows (stored replies, messages, deliveries) are left out.
 */
export const playerExport = () =>
  team.query({
    roles: ['compliance', 'auditor'],
    freshLogin: 'always',
    summary: 'Export everything that is stored about one player',
    body: object({
      playerId: Id,
      after: optional(Type.String({ minLength: 1, maxLength: 256 }), 'Go on after this row.'),
      reason: described(Reason, 'Why, for example the request of the player; kept in the audit trail.'),
    }),
    reply: object({
      rows: Type.Array(
        object({
          table: Type.String(),
          /** Each column as text, so that no amount is rounded. */
          values: Type.Record(Type.String(), Nullable(Type.String())),
        }),
      ),
      nextCursor: Nullable(text(256)),
    }),
    discloses: true,
    timeoutMs: 30_000,
  })
