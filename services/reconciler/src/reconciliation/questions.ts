import { evidence, type Question } from './check.ts'
import { environments } from './environments.ts'
import { decisions, events, histories } from './history-checks.ts'
import { corrections, counterparties, holds, reversals, transfers } from './ledger-checks.ts'
import { deposits, type PayAlone, paidAlone, withdrawals } from './payments-checks.ts'
import { admissions, plays, rounds } from './play-checks.ts'
import { playDays } from './play-days.ts'
import { statusDecisions } from './player-status-checks.ts'
import { accounts, kycDecisions } from './players-checks.ts'

/**
 * What PostgreSQL is asked about records, in the order of the report.
 * @param payAlone up to which amount one person may approve and pay, as `paidAlone` takes it
 */
export const sqlQuestions = (payAlone: readonly PayAlone[]): readonly Question[] => [
  ...transfers,
  ...counterparties,
  ...corrections,
  ...reversals,
  ...holds,
  ...deposits,
  ...withdrawals,
  ...histories,
  ...decisions,
  ...kycDecisions,
  ...statusDecisions,
  paidAlone(payAlone),
  ...events,
  ...accounts,
  ...environments,
  ...plays,
  ...rounds,
  ...admissions,
  ...playDays,
]

/** The checks that every run makes. */
export const checkNames = [
  ...['balances', 'chains', 'sums', 'checkpoints'],
  ...new Set(sqlQuestions([]).map(({ check }) => check)),
  'inFlight',
  evidence,
]
