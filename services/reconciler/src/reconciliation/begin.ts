import type { Database } from '@backoffice/service-runtime'
import { EvidenceMissing } from '../heads/store.ts'
import { findCheckpoint, keepMoment, piecesInAll, type ReconciliationCheckpoint } from '../storage/reconciliations.ts'
import { evidence, type Question } from './check.ts'
import { type ClockSteps, readClockSteps, readOtherDatabases } from './clock-steps.ts'
import { environments } from './environments.ts'
import type { Findings } from './findings.ts'
import { type ConfiguredHeads, notSeen } from './heads-check.ts'
import { decisions, events, histories } from './history-checks.ts'
import { corrections, counterparties, holds, reversals, transfers } from './ledger-checks.ts'
import { deposits, type PayAlone, paidAlone, withdrawals } from './payments-checks.ts'
import { admissions, plays, rounds } from './play-checks.ts'
import { playDays } from './play-days.ts'
import { statusDecisions } from './player-status-checks.ts'
import { accounts, kycDecisions } from './players-checks.ts'
import { RecordChecks, unreadable } from './record-checks.ts'
import { signatures } from './signatures.ts'
import { reachPresent, type Snapshots } from './snapshots.ts'
import { beginningOf, type Since } from './sources.ts'
import { readSystemAccounts, type SystemAccount } from './system-check.ts'
import { TeamHistory, type TeamRules } from './team-history.ts'

/**
 * What PostgreSQL is asked about records, in the order of the report.
 * @param payAlone up to which amount one person may approve and pay, as `paidAlone` takes it
 */
const sqlQuestions = (payAlone: readonly PayAlone[]): readonly Question[] => [
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

/** What of a run decides where it begins. */
export interface RunToBegin {
  readonly runId: string
  /**
   * Whether all that was ever entered is looked at, or what was entered since the last run that ended. Without such a run
   * it is always full.
   */
  readonly isFull: boolean
  /** How many of all pieces a full run proves, those first whose proof is the oldest, after what was entered lately. */
  readonly piecesMax?: number | undefined
  /** Where heads of chains are exported to, if they are. */
  readonly heads?: ConfiguredHeads | undefined
  /** Whose signatures corrections must have. Without it none is verified. */
  readonly team?: TeamRules | undefined
  /** Ends the run at once, even in the middle of a query. */
  readonly signal: AbortSignal
}

/** What a run begins with, as of one moment. */
export interface RunStart {
  readonly checkpoint: ReconciliationCheckpoint | undefined
  /** Null in a run that looks at everything. */
  readonly since: Since | null
  readonly isProof: boolean
  /** Transactions below this one have ended, and what they entered is seen. */
  readonly endedBelow: bigint
  readonly systemAccounts: readonly SystemAccount[]
}

export interface BegunRun extends RunStart {
  readonly at: Date
  readonly isOfTwo: boolean
  /** What a win could be at least, in minor units, where nothing else was set. */
  readonly leastMaxWin: bigint
  /** What is asked about records. */
  readonly ask: Omit<ConstructorParameters<typeof RecordChecks>[0], 'since'>
  readonly checks: RecordChecks
}

/** A run that begins. */
interface Beginner {
  readonly snapshots: Snapshots
  readonly db: Database
  readonly options: RunToBegin
  readonly findings: Findings
}

/** Says where the run begins, and what it asks. */
export async function begin(run: Beginner): Promise<BegunRun> {
  const { snapshots, db, options, findings } = run
  const { runId, heads, team: rules, signal } = options
  const otherDatabases = await snapshots.see(readOtherDatabases)
  await keepMoment(db, runId, new Set(otherDatabases.values()))
  const at = await reachPresent(snapshots, db, signal)
  const team =
    rules &&
    ((await ifReadable(findings, () => TeamHistory.read(rules, at, heads?.store))) ??
      (await TeamHistory.read(rules, at, undefined)))
  const found = await findStart(run)
  const { checkpoint, since } = found
  // Where PostgreSQL's clock went back, what is new has times of before.
  const isBack = since !== null && checkpoint !== undefined && at < checkpoint.at
  const start = isBack ? { ...found, since: beginningOf({ ...checkpoint, at }) } : found
  const clockSteps = await snapshots.see((db) => readClockSteps(db, otherDatabases, checkpoint?.runId))
  nameNew(clockSteps, findings)
  const open = start.checkpoint?.open.listed ?? []
  const named = new Set(open.filter(({ kind }) => kind !== null && kind !== 'head').map(({ key }) => key))
  const judging = { since: start.since?.at ?? null, isDevelopment: rules?.isDevelopment === true }
  const questions = [
    ...sqlQuestions(team?.payAlone ?? []),
    ...(team === undefined ? [] : signatures({ at, team, named, otherDatabases, clockSteps, ...judging })),
  ]
  const isOfTwo = otherDatabases.size > 0
  const ask = { questions, findings, isOfTwo }
  // Where nobody's signatures are verified, no limit is looked at.
  const leastMaxWin = team?.leastMaxWin ?? 0n
  const checks = new RecordChecks({ ...ask, since: start.since })
  return { ...start, at, ask, isOfTwo, leastMaxWin, checks }
}

/** A step is named by one run. Calls of that time are judged by all but their times, in each run. */
function nameNew(clockSteps: ClockSteps, findings: Findings): void {
  for (const [schema, steps] of clockSteps)
    for (const { at, latest } of steps.filter(({ isNew }) => isNew)) {
      const found = {
        ...{ brandId: null, subject: `the clock of PostgreSQL, ${schema}.moment` },
        expected: `a time after ${latest.toISOString()}`,
        actual: at.toISOString(),
        explanation: "PostgreSQL's clock went back. What people signed meanwhile is judged by all but its time.",
      }
      findings.add(evidence, found, 'any run')
    }
}

/** What needs the store of heads. Undefined where it cannot be read, which is found and ends nothing. */
export async function ifReadable<T>(findings: Findings, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof EvidenceMissing)) throw error
    findings.add(evidence, notSeen(error), 'any run')
    return undefined
  }
}

export function findStart({ snapshots, options, findings }: Beginner): Promise<RunStart> {
  return snapshots.see(async (db) => {
    const [horizon] = await db<{ below: string }>`select pg_snapshot_xmin(pg_current_snapshot())::text as below`
    const endedBelow = BigInt(horizon?.below ?? 0)
    const fault = unreadable('the end of the last run', 'it is not what a run writes')
    const checkpoint = await findCheckpoint(db, () => findings.add('checkpoints', fault, 'any run'))
    // Transactions are counted anew in a cluster that was restored from a dump.
    const isUsable = checkpoint !== undefined && BigInt(checkpoint.below) <= endedBelow
    const { isFull, piecesMax = piecesInAll } = options
    const since = !isUsable || (isFull && piecesMax >= piecesInAll) ? null : beginningOf(checkpoint)
    return {
      checkpoint,
      since,
      isProof: isFull || since === null,
      endedBelow,
      systemAccounts: await readSystemAccounts(db),
    }
  })
}
