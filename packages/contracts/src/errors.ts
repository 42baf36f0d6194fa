import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { sample } from './examples.ts'
import { type ProviderErrorCode, providerErrors } from './provider-errors.ts'
import { type ErrorEntry, type PublicErrorCode, publicErrors } from './public-errors.ts'
import { Currency, Id, Timestamp } from './resources.ts'
import { described, object, oneOf, text } from './schema.ts'
import { DepositStatus, KycStatus, PlayerStatus, WithdrawalStatus } from './statuses.ts'

/** A code that providers and operators both read has one status, and what operators read is its text here. */
const ofProviders = Object.fromEntries(
  Object.entries(providerErrors).map(([code, { status, message, retry }]) => [
    code,
    { status, message, ...(retry === 'later' ? { retryable: true as const } : {}) },
  ]),
) as Record<ProviderErrorCode, ErrorEntry>

const withStatus = <Code extends string>(status: number, messages: Readonly<Record<Code, string>>) =>
  Object.fromEntries(Object.entries<string>(messages).map(([code, message]) => [code, { status, message }])) as Record<
    Code,
    ErrorEntry
  >

/** The error catalogue: the codes that providers and operators read, and those of the team. */
const catalogue = {
  ...ofProviders,
  ...publicErrors,
  // The team's side only: these are never in the published documents, and their details are for the team's tools.
  ...withStatus(202, {
    AWAITS_APPROVAL: 'Proposed: it is carried out when somebody else approves it. The details name the proposal.',
  }),
  ...withStatus(401, {
    LOGIN_REQUIRED: 'You are not logged in, or your login has expired. Log in again. The details say why.',
    FRESH_LOGIN_REQUIRED: 'Log in again: this needs a recent login. The details name what is missing.',
  }),
  ...withStatus(403, {
    SIGNATURE_REQUIRED: 'This takes the signature of the person: the console may only read for them.',
    ROLE_REQUIRED: 'This takes a role that you do not have; the details say which.',
    TWO_PEOPLE_REQUIRED: 'This takes two people: somebody else must do it. The details name the first.',
  }),
  ...withStatus(404, {
    PROPOSAL_NOT_FOUND: 'There is no such proposal.',
    PROVIDER_NOT_FOUND: 'There is no such provider.',
    ROUND_NOT_FOUND: 'There is no such round.',
    HELD_WIN_NOT_FOUND: 'No such win is held, or it is released.',
    OPERATOR_NOT_FOUND: 'There is no such operator.',
    CREDENTIAL_NOT_FOUND: 'There is no such credential.',
    DELIVERY_NOT_FOUND: 'There is no such delivery.',
    REQUEST_NOT_FOUND: 'No request with this id was refused in the last seven days.',
    MESSAGE_NOT_FOUND: 'There is no such message.',
    TRANSFER_NOT_FOUND: 'There is no such transfer in this brand.',
    RECONCILIATION_NOT_FOUND: 'There is no such reconciliation run.',
    PAYMENT_FILE_NOT_FOUND: 'There is no such file for the bank.',
    COMMAND_NOT_FOUND: 'There is no such command of the outbox, or it is done.',
  }),
  ...withStatus(409, {
    PROPOSAL_NOT_OPEN: 'The proposal is no longer open.',
    PROVIDER_ALREADY_EXISTS: 'A provider with this name already exists.',
    ROUND_NOT_OPEN: 'The round is no longer open; the details say what it is.',
    ROUND_HAS_WINS: 'The round was won, so its stakes are not given back. Close it.',
    OPERATOR_ALREADY_EXISTS: 'An operator with this name already exists.',
    CREDENTIAL_LAST_ACTIVE: 'This is the last active credential of the environment; issue another one first.',
    HOMOLOGATION_INCOMPLETE:
      "The operator's sandbox traffic has not proved all that production takes; the details say what is missing.",
    TRANSFER_CONFLICT: 'The reference was used for another transfer.',
    TRANSFER_ALREADY_REVERSED: 'The transfer is already reversed.',
    WITHDRAWAL_NOT_RESERVED:
      'The ledger reserves no money for this withdrawal, so none is paid. Have it looked into before you reject it.',
    NOT_AS_APPROVED:
      'It is not proven that somebody approved this as it is shown, so it is not paid. The details say why.',
    WITHDRAWAL_IN_FILE:
      'The withdrawal is in a file for the bank already; the details say which. Discard that one if it was not sent.',
    BATCH_NUMBER_USED: 'A file for the bank has this number already. Take the next one, or discard that file.',
    PAYMENT_FILE_DISCARDED: 'This file for the bank was discarded.',
    COMMAND_CANNOT_BE_ENDED: 'This command cannot be cancelled. The details say why.',
    PLAYER_DATA_NEEDED: 'The data of this player are still needed; the details say why.',
    KYC_TAKEN: 'Somebody else has taken this case; the details say who. It can be taken over.',
    NOT_AS_SEEN: 'The record changed after you opened it. Review it again. The details show both versions.',
  }),
  ...withStatus(422, {
    WEBHOOK_URL_REFUSED: 'The webhook URL is not allowed.',
  }),
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof catalogue
export const errorCatalogue: Readonly<Record<ErrorCode, ErrorEntry>> = catalogue

/** Where the documentation page explains a code: the name of its place there. */
export const errorAnchor = (code: PublicErrorCode | ProviderErrorCode): string =>
  `error-${code.toLowerCase().replaceAll('_', '-')}`

/** The `details` that errors with one code have. */
export interface DetailsEntry<D extends TSchema = TSchema> {
  readonly schema: D
  /** Whether every error with this code has them. */
  readonly always: boolean
  /** For the documents; undefined where theirs has no details. */
  readonly example: unknown
}

const always = <D extends TSchema>(schema: D, example: unknown) => ({ schema, always: true as const, example })
const sometimes = <D extends TSchema>(schema: D, example: unknown) => ({ schema, always: false as const, example })

const withdrawalDetails = object({ withdrawalId: described(Id, 'The withdrawal.'), status: WithdrawalStatus })

const hint = Type.Optional(Type.String({ description: 'What is wrong with a header, in plain words. It may change.' }))

/** The `details` of each error code that has some. No other code has any. */
export const errorDetails = {
  VALIDATION_ERROR: always(
    object({
      in: oneOf(['body', 'query', 'path', 'headers'], { description: 'Which part of the request is not valid.' }),
      issues: Type.Array(
        object({
          path: text(256, { description: 'JSON pointer to the value; empty for the whole part.' }),
          message: text(1_000, { description: 'What is wrong with it, in plain words. It may change.' }),
        }),
        { description: 'What is wrong, a place each.' },
      ),
    }),
    { in: 'body', issues: [{ path: '/amount', message: 'must be a decimal string over zero' }] },
  ),
  INVALID_CREDENTIALS: sometimes(object({ hint }, { description: 'For keys of the sandbox only.' }), undefined),
  INVALID_SIGNATURE: sometimes(
    object(
      {
        hint,
        canonicalString: Type.String({ description: 'The string that we built from your request and signed.' }),
        compareAt: Type.Optional(
          Type.String({ description: 'A page that compares it with yours. It sends nothing to anybody.' }),
        ),
      },
      { description: 'In the sandbox only.' },
    ),
    {
      canonicalString: 'GET\n/api/v1/me\n1772452800\ne3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      compareAt: 'https://backoffice.example/api/v1/docs/signing#GET%0A%2Fapi%2Fv1%2Fme%0A1772452800%0Ae3b0c442…',
    },
  ),
  TIMESTAMP_OUT_OF_RANGE: sometimes(
    object(
      { hint, serverTime: Type.Integer({ description: 'Our clock, in epoch seconds.' }) },
      { description: 'In the sandbox only.' },
    ),
    { hint: 'X-Timestamp is in milliseconds; expected epoch seconds', serverTime: 1772452800 },
  ),
  IDEMPOTENCY_CONFLICT: sometimes(
    object(
      { signature: oneOf(['used'], { description: 'The signature was accepted before, for another request.' }) },
      { description: 'Under replay protection only. The request had no effect: sign it anew, and send it.' },
    ),
    undefined,
  ),
  PLAYER_ALREADY_EXISTS: always(object({ playerId: described(Id, 'The player that has the `externalId`.') }), {
    playerId: sample.playerId,
  }),
  DEPOSIT_ALREADY_EXISTS: always(
    object({ depositId: described(Id, 'The deposit that has the `externalReference`.') }),
    { depositId: sample.depositId },
  ),
  DEPOSIT_NOT_PENDING: always(object({ depositId: described(Id, 'The deposit.'), status: DepositStatus }), {
    depositId: sample.depositId,
    status: 'confirmed',
  }),
  WITHDRAWAL_NOT_CANCELLABLE: always(withdrawalDetails, { withdrawalId: sample.withdrawalId, status: 'approved' }),
  WITHDRAWAL_INVALID_STATE: always(withdrawalDetails, { withdrawalId: sample.withdrawalId, status: 'under_review' }),
  CURRENCY_MISMATCH: always(
    object({ expected: described(Currency, 'The currency of the player.'), received: described(Currency, 'Yours.') }),
    { expected: 'BRL', received: 'USD' },
  ),
  RG_BLOCKED: always(
    object({
      reason: oneOf(['self_exclusion', 'daily_limit', 'sandbox_trigger'], {
        description: 'What blocks.',
        meanings: {
          self_exclusion: 'the person is excluded at its own wish, as this player or another with the same CPF',
          daily_limit: "the day's deposits would pass, or have passed, the limit that the player set",
          sandbox_trigger: 'the reserved game `sandbox-rg-blocked` was opened; only in the sandbox',
        },
      }),
    }),
    { reason: 'self_exclusion' },
  ),
  DAILY_QUOTA_EXCEEDED: always(
    object({
      quota: oneOf(['bytes', 'rows'], {
        description: 'What is used up.',
        meanings: { bytes: 'of tables, their indexes and the log of events', rows: 'in tables' },
      }),
      used: Type.Integer({ description: 'Of this day (UTC), by all requests of the operator in the environment.' }),
      limit: Type.Integer({ description: 'What a day may store.' }),
      resetsAt: described(Timestamp, 'When the next day begins.'),
    }),
    { quota: 'bytes', used: 939520512, limit: 939524096, resetsAt: '2026-03-03T00:00:00.000Z' },
  ),
  PLAYER_NOT_ACTIVE: always(object({ status: PlayerStatus }), { status: 'suspenso' }),
  KYC_NOT_APPROVED: always(object({ kycStatus: KycStatus }), { kycStatus: 'em_analise' }),
} as const satisfies Record<string, DetailsEntry>

type Schemas = typeof errorDetails
type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: DeepReadonly<T[Name]> }
    : T

/** What an error with this code says in `details`; undefined where it may say nothing. */
export type ErrorDetails<Code extends ErrorCode> = Code extends keyof Schemas
  ? DeepReadonly<Static<Schemas[Code]['schema']>> | (Schemas[Code]['always'] extends true ? never : undefined)
  : Code extends PublicErrorCode
    ? undefined
    : Readonly<Record<string, unknown>> | undefined

/** The schema of a code's details; undefined where the code has none, or is the team's. */
export const detailsOf = (code: ErrorCode): DetailsEntry | undefined =>
  (errorDetails as Readonly<Partial<Record<ErrorCode, DetailsEntry>>>)[code]

interface RejectionOptions {
  /** What made the caller refuse. It is logged and never published. */
  readonly cause?: unknown
}
type ArgumentsOf<Code extends ErrorCode> =
  undefined extends ErrorDetails<Code>
    ? [code: Code, details?: ErrorDetails<Code>, options?: RejectionOptions]
    : [code: Code, details: ErrorDetails<Code>, options?: RejectionOptions]
/** A code, with the details that belong to it. */
export type RejectionArguments = { [Code in ErrorCode]: ArgumentsOf<Code> }[ErrorCode]

/** What a caller is refused with: a code of the catalogue, and details that are safe to publish. */
export class Rejection extends Error {
  override readonly name = 'Rejection'
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>> | undefined

  constructor(...[code, details, options]: RejectionArguments) {
    super(errorCatalogue[code].message, options)
    this.code = code
    this.details = details
  }

  /** A refusal that was sent or stored as JSON. */
  static from({ code, details }: { readonly code: ErrorCode; readonly details?: Record<string, unknown> }): Rejection {
    return new Rejection(...([code, details] as RejectionArguments))
  }
}

/** The issues of a failed validation. */
export type ValidationDetails = ErrorDetails<'VALIDATION_ERROR'>

const pathLengthMax = 128

/**
 * The path of an issue as it is shown. The names in it are the sender's, and may be as long as the body. A refusal is
 * stored, so it is not.
 */
export const shownPath = (path: string): string =>
  path.length <= pathLengthMax ? path : `${path.slice(0, pathLengthMax).toWellFormed()}…`

/** @param path a JSON pointer to what is not valid */
export const invalid = (place: ValidationDetails['in'], path: string, message: string): Rejection =>
  new Rejection('VALIDATION_ERROR', { in: place, issues: [{ path: shownPath(path), message }] })
