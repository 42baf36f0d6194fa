import { Type } from '@sinclair/typebox'
import { filedMax } from '../limits.ts'
import { team } from '../operation.ts'
import { personal } from '../personal.ts'
import { Currency, EnvironmentName, Id, Money, Note, Reason, Timestamp, WithdrawalStatus } from '../resources.ts'
import { described, Nullable, object, optional, text } from '../schema.ts'
import { seenField } from './fields.ts'
import { SignedCall } from './runtime.ts'

const fileFields = {
  id: Id,
  batchNumber: Nullable(Type.Integer(), 'Of a batch of Pix transfers. Null: it is a CSV file.'),
  madeBy: personal('staff', text(64)),
  madeAt: Timestamp,
}

/** The file for the bank that a withdrawal is in. Null: it is in none, or that one was discarded. */
export const paymentFileField = Type.Optional(Nullable(object(fileFields)))

const Agreement = text(24, {
  pattern: '^[ -~]+$',
  description: 'Number of the bank, and of the agreement with it: its batches are counted apart.',
})

const PaymentFile = object({
  ...fileFields,
  agreement: Nullable(Agreement),
  making: Nullable(
    SignedCall,
    'The call that made it: whoever sends it to the bank verifies that, and believes no reply.',
  ),
  environment: EnvironmentName,
  discardedBy: Nullable(personal('staff', text(64))),
  discardedAt: Nullable(Timestamp),
  discardReason: Nullable(Note),
  waiting: Type.Integer({ minimum: 0, description: 'How many of its withdrawals wait for their payment.' }),
  withdrawals: Type.Array(object({ id: Id, amount: Money, currency: Currency, status: WithdrawalStatus }), {
    maxItems: filedMax,
    description: 'In the order of its lines.',
  }),
})

const WithdrawalId = text(40, { pattern: '^\\w+$' })

/**
 * What a file for the bank contains is recorded before anybody gets it: two files with one withdrawal pay it twice, whatever is
 * marked as paid later.
 */
export const paymentFiles = {
  makePaymentFile: team.command({
    roles: ['finance'],
    freshLogin: 'always',
    summary: 'Record a file for the bank of approved withdrawals, which the console then writes',
    description: 'A withdrawal is in one file, until that one is discarded.',
    body: object({
      ids: Type.Array(WithdrawalId, {
        minItems: 1,
        maxItems: filedMax,
        uniqueItems: true,
        description: 'Of the withdrawals.',
      }),
      batchNumber: optional(
        Type.Integer({ minimum: 1, maximum: 999_999 }),
        'For a batch of Pix transfers: one more than that of the last one. Without it, a CSV file is made.',
      ),
      agreement: Type.Optional(Agreement),
    }),
    storedBytesMax: filedMax * 80,
    reply: object({ fileId: Id }),
    rejects: [
      ...(['WITHDRAWAL_NOT_FOUND', 'WITHDRAWAL_INVALID_STATE', 'WITHDRAWAL_NOT_RESERVED'] as const),
      ...(['WITHDRAWAL_IN_FILE', 'BATCH_NUMBER_USED'] as const),
    ],
  }),

  showPaymentFile: team.query({
    roles: ['finance', 'compliance', 'support', 'auditor'],
    summary: 'Show a file for the bank and what became of its withdrawals',
    body: object({ fileId: Id }),
    reply: PaymentFile,
    rejects: ['PAYMENT_FILE_NOT_FOUND'],
  }),

  discardPaymentFile: team.command({
    roles: ['finance'],
    freshLogin: 'always',
    summary: 'Discard a file that the bank never carried out; what still waits may go into another one',
    body: object({
      fileId: Id,
      ...seenField({ environment: EnvironmentName, waiting: PaymentFile.properties.waiting }),
      reason: described(Reason, 'How you know that the bank does not pay what stands in it.'),
    }),
    reply: object({ fileId: Id }),
    rejects: ['PAYMENT_FILE_NOT_FOUND', 'PAYMENT_FILE_DISCARDED', 'NOT_AS_SEEN'],
  }),
}
