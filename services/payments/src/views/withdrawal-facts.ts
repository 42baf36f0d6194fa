import { fromMinorUnits, type WithdrawalFacts } from '@backoffice/contracts'
import type { ReadDb } from '@backoffice/service-runtime'
import { isDestinationKnown, isFirstWithdrawal, sumsBegin } from '../domain/withdrawal-facts.ts'
import { readPasts } from '../storage/withdrawal-past.ts'
import type { ShownWithdrawal } from './shown-withdrawal.ts'

/** What helps to decide about each withdrawal, in order. */
export async function factsOf(
  db: ReadDb,
  withdrawals: readonly ShownWithdrawal[],
  now: Date,
): Promise<WithdrawalFacts[]> {
  const pasts = await readPasts(db, withdrawals, sumsBegin(now))
  return pasts.map((past, index) => ({
    firstWithdrawal: isFirstWithdrawal(past),
    destinationUsedBefore: isDestinationKnown(withdrawals[index]?.destination ?? '', past),
    deposits30Days: shown(past.deposits),
    withdrawals30Days: shown(past.withdrawals),
  }))
}

const shown = ({ count, amount }: { readonly count: number; readonly amount: bigint }) => ({
  count,
  amount: fromMinorUnits(amount),
})
