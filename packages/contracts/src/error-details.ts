import { type TSchema, Type } from '@sinclair/typebox'
import { sample } from './examples.ts'
import { Currency, Id, Timestamp } from './resources.ts'
import { described, object, oneOf, text } from './schema.ts'
import { DepositStatus, KycStatus, PlayerStatus, WithdrawalStatus } from './statuses.ts'

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
