// What goes to a bank is what somebody has signed, whatever a service replies: for the console and the command line.
import {
  defined,
  type Operation,
  operations,
  type Reply,
  type SignedCall,
  seenOfWithdrawal,
} from '@backoffice/contracts'

const { decideWithdrawal, makePaymentFile, showPaymentFile, showWithdrawal } = operations.payments

/** Whoever can tell why it is not proven that a call was made as it is shown. */
interface Verifies {
  readonly faultOfCall: (operation: Operation, call: SignedCall, says: object) => Promise<string | null>
}

const unsigned = 'nobody of the team has signed it'

/** Why it is not proven that somebody approved a withdrawal as it is shown; null when it is. */
export async function faultOfApproval(
  recorded: Verifies,
  { approval, ...withdrawal }: Reply<typeof showWithdrawal>,
): Promise<string | null> {
  const says = { withdrawalId: withdrawal.id, ...seenOfWithdrawal(withdrawal), decision: 'approve' }
  return approval ? recorded.faultOfCall(decideWithdrawal, approval, says) : unsigned
}

/** Why it is not proven that whoever is said to have made a file for the bank has signed what is in it; null when it is. */
export async function faultOfPaymentFile(
  recorded: Verifies,
  { making, madeBy, madeAt, batchNumber, agreement, withdrawals }: Reply<typeof showPaymentFile>,
): Promise<string | null> {
  if (!making || making.actor !== madeBy || making.at !== madeAt) return unsigned
  const given = { batchNumber: batchNumber ?? undefined, agreement: agreement ?? undefined }
  return recorded.faultOfCall(makePaymentFile, making, { ids: withdrawals.map(({ id }) => id), ...defined(given) })
}
