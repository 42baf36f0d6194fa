import type { Question } from './check.ts'
import { decisions, events, histories } from './history-checks.ts'
import { corrections, counterparties, holds, reversals, transfers } from './ledger-checks.ts'
import { deposits, withdrawals } from './payments-checks.ts'
import { accounts } from './players-checks.ts'

/** What PostgreSQL is asked about records, in the order of the report. */
export const sqlQuestions: readonly Question[] = [
  ...transfers,
  ...counterparties,
  ...corrections,
  ...reversals,
  ...holds,
  ...deposits,
  ...withdrawals,
  ...histories,
  ...decisions,
  ...events,
  ...accounts,
]

/** The checks that every run makes. */
export const checkNames = [
  ...['balances', 'chains', 'sums', 'checkpoints'],
  ...new Set(sqlQuestions.map(({ check }) => check)),
  'inFlight',
]
