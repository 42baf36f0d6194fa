import { type Static, Type } from '@sinclair/typebox'
import { team } from '../operation.ts'
import { personal } from '../personal.ts'
import { EnvironmentName, Id, Reason, Timestamp } from '../resources.ts'
import { arrayOf, described, Nullable, object, oneOf, optional, pageOf, text } from '../schema.ts'
import { service } from './runtime.ts'

/**
 * What a difference says. Money: the books do not add up, or a record does not follow from what should have caused it.
 * Evidence contradicts: what stands outside of the database, or a signature, says something else. Evidence is missing: it
 * could not be looked at, and the books themselves may be right.
 */
export const differenceClasses = ['money', 'evidence_contradicts', 'evidence_missing'] as const
const DifferenceClass = oneOf(differenceClasses)
export type DifferenceClass = (typeof differenceClasses)[number]

/** One record that does not agree with what it should follow from. */
export const Difference = object({
  /** The check that found it, for example `balances`. */
  check: text(64),
  class: DifferenceClass,
  brandId: Nullable(Id),
  /** Of the brand. Where it is not known, production. */
  environment: EnvironmentName,
  /** The record: a player, transfer, deposit, withdrawal or outbox row. */
  subject: text(256),
  expected: text(2_000),
  actual: text(2_000),
  explanation: text(500),
})
export type Difference = Static<typeof Difference>

/** An effect that one service has committed and another has not finished; after five minutes it is a difference. */
export const InFlight = object({ service: text(64), name: text(64), subject: text(256), ageSeconds: Type.Integer() })
export type InFlight = Static<typeof InFlight>

const ReconciliationState = oneOf(['running', 'done', 'failed'])
const ReconciliationKind = oneOf(['full', 'part', 'restored', 'incremental'])
const DifferencesIn = object({ sandbox: Type.Integer(), production: Type.Integer() })

/** That the database was restored, as two people recorded it, and what is not compared because of it. */
export const RecordedRestore = object({
  restoredTo: Timestamp,
  recordedAt: Timestamp,
  /** Who carried it out; the proposal in the audit trail says who asked for it. */
  recordedBy: personal('staff', text(254)),
  reason: Reason,
  /** How many exports of heads count for nothing: what they hold is of a future that is gone. */
  exportsSilenced: Type.Integer({ minimum: 1 }),
})
export type RecordedRestore = Static<typeof RecordedRestore>

export const ReconciliationReport = object({
  snapshotAt: Timestamp,
  /**
   * Whether the run looked at all that was ever entered, at a part of it and what was entered since the run before, at what
   * exported heads cannot vouch for after a restore, or only at what was entered since the run before.
   */
  kind: ReconciliationKind,
  /** When the last run began that was full, or a part of one. */
  fullAt: Timestamp,
  /** Since when everything was proven from its beginning on; null when something never was, or not since a restore. */
  provenSince: Nullable(Timestamp),
  /** After a restore: how many accounts there are, and for how many of them heads vouch that were exported before. */
  restored: Type.Optional(
    object({
      restoredTo: Timestamp,
      exportedAt: Nullable(Timestamp),
      accounts: Type.Integer(),
      vouchedFor: Type.Integer(),
    }),
  ),
  /** What each check looked at. */
  checks: arrayOf(100, { check: text(64), compared: Type.Integer(), differences: Type.Integer() }),
  /** At most the first 1,000, and fewer when they are long; `differencesTotal` counts all. */
  differences: Type.Array(Difference),
  differencesTotal: Type.Integer(),
  /** The same by environment. */
  differencesIn: DifferencesIn,
  /** The same by class and environment; only those of which there are some. */
  differencesOf: Type.Array(
    object({ class: DifferenceClass, environment: EnvironmentName, differences: Type.Integer() }),
  ),
  /** Restores that silence exported heads. */
  restores: Type.Array(RecordedRestore),
  inFlight: Type.Array(InFlight),
  inFlightTotal: Type.Integer(),
})
export type ReconciliationReport = Static<typeof ReconciliationReport>

/** A run in a list: how many differences it found, and not which. */
const ReconciliationSummary = object({
  runId: Id,
  state: ReconciliationState,
  /** A person, or `schedule`. */
  startedBy: personal('staff', text(254)),
  startedAt: Timestamp,
  /** Null while it runs. */
  endedAt: Nullable(Timestamp),
  kind: ReconciliationKind,
  /** Null until it is done. */
  differencesIn: Nullable(DifferencesIn),
})

/** How the team compares the records of money with each other, and says that a database was restored. */
export const reconciler = service('reconciler', {
  /**
   * Starts a reconciliation, or returns the state of the run `runId`. A ledger may be large: the reply comes within a
   * few seconds with `running` and its progress, and the caller asks again with `runId` until it is `done` or `failed`.
   * A query, which the console may make for a person: a run changes nothing that it compares, and runs wait for each other.
   */
  reconcileWallet: team.query({
    roles: ['finance', 'auditor'],
    summary: 'Recompute balances, holds and hash chains and compare them with deposits, withdrawals and outboxes',
    body: object({
      runId: Type.Optional(Id),
      // A run is full unless this says otherwise.
      full: optional(Type.Boolean(), 'Look at all that was ever entered, and not only at what was entered lately.'),
      restoredTo: optional(
        Timestamp,
        'The database was restored to this moment: look at what exported heads cannot vouch for.',
      ),
    }),
    reply: object({
      runId: Id,
      state: ReconciliationState,
      progress: object({ check: text(64), done: Type.Integer(), total: Type.Integer() }),
      /** When `done`. */
      report: Nullable(ReconciliationReport),
      /** When `failed`. */
      failure: Nullable(text(1_000)),
    }),
    rejects: ['RECONCILIATION_NOT_FOUND'],
    timeoutMs: 15_000,
  }),

  listReconciliations: team.query({
    roles: ['finance', 'auditor'],
    summary: 'List the reconciliations of the last 90 days, newest first',
    body: object({
      before: optional(Id, 'Go on below this run.'),
      limit: Type.Integer({ minimum: 1, maximum: 1000 }),
    }),
    reply: pageOf(ReconciliationSummary),
  }),

  /**
   * Says among the exported heads that the database went back to an earlier moment: heads exported since then by the
   * database that was before are of a future that is gone, and reconciliations compare them no more. Refused unless the
   * database is on another history than one of those exports. The same moment again changes nothing. Takes two people.
   */
  recordRestore: team.direct({
    roles: ['finance'],
    freshLogin: 'always',
    twoPeople: 'always',
    summary: 'Record that the database was restored to an earlier moment. Takes two people',
    body: object({
      restoredTo: described(Timestamp, 'The recovery target: what was committed after it is gone.'),
      reason: Reason,
    }),
    reply: object({ restoredTo: Timestamp, recordedAt: Timestamp }),
    rejects: ['VALIDATION_ERROR'],
  }),
})
