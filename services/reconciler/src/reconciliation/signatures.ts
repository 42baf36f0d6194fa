import { aloneHours, type ExportedAuditEntry, fromMinorUnits, type Operation, operations } from '@backoffice/contracts'
import { type ReadDb, sql } from '@backoffice/service-runtime'
import { readProvenEntries } from '@backoffice/team-desk'
import { KeysUnavailable } from '@backoffice/team-identity'
import { evidence, type KeyedFound, type Question } from './check.ts'
import { type JudgedCorrection, readToJudge } from './day-of-corrections.ts'
import { readEnvironments } from './environments.ts'
import { readSignedDecisions } from './players-checks.ts'
import { overlapMs } from './sources.ts'
import type { TeamHistory } from './team-history.ts'

/**
 * How far back corrections and decisions are judged by today's keys and settings where former ones are not recorded. What is
 * older may have been done by others.
 */
const unrecordedMsMax = 24 * 3_600_000

interface Run {
  readonly at: Date
  readonly team: TeamHistory
  /** Records whose signatures the run before found wanting. They are judged again, whatever their age. */
  readonly named: ReadonlySet<string>
}

/** The audit trail alone could have been written by whoever has the rights of a service; the signatures could not. */
export const signatures = (run: Run): readonly Question[] => [
  {
    ...{ check: 'signatures', kind: 'transfer', counts: true },
    of: ({ type, isPosted }) => isPosted && (type === 'ADJUSTMENT' || type === 'REVERSAL'),
    find: (db, keys) => findUnsignedCorrections(db, keys, run),
  },
  {
    ...{ check: 'signatures', kind: 'kycChange', counts: true },
    find: (db, keys) => findUnsignedDecisions(db, keys, run),
  },
]

/**
 * Every adjustment and reversal was signed by a person of the team who might make it, and by two where it took two: above an
 * amount, up to which what one person corrects alone of a player's balance within a day counts together.
 */
async function findUnsignedCorrections(db: ReadDb, keys: readonly string[], run: Run): Promise<KeyedFound[]> {
  const corrections = await readToJudge(db, keys)
  const judged = corrections.filter((one) => isJudged(run, one.key, one.createdAt) || isBackdated(one))
  const [entries, environmentOf] = await Promise.all([
    readEntries(db, 'wallet', judged),
    readEnvironments(db, [...new Set(judged.map(({ brandId }) => brandId))]),
  ])
  const found: KeyedFound[] = []
  for (const correction of judged) {
    const { key, brandId, operation, amount, sum } = correction
    const entry = entries(correction)
    const { aloneUpTo } = run.team.heldAt(new Date(entry.at))
    const takesTwo = environmentOf(brandId) === 'production' && sum > aloneUpTo
    const late = timeFault(correction, entry)
    const fault = late === null ? await faultOf(run, operations.wallet[operation], entry, takesTwo) : { why: late }
    if (fault === null) continue
    // No single one shows why.
    const together =
      takesTwo && amount <= aloneUpTo ? `: ${fromMinorUnits(sum)} for this player within ${aloneHours} hours` : ''
    const expected = takesTwo ? 'the signatures of two people who might' : 'the signature of a person who might'
    const explanation = 'An adjustment or reversal is not proven by signatures of the team.'
    const why = `${fault.why}${together}`
    found.push(differs(key, { brandId, subject: key, expected, explanation }, entry, { ...fault, why }))
  }
  return found
}

/** Every decision of a person on an identity was signed by somebody who might decide. That there is one is another check. */
async function findUnsignedDecisions(db: ReadDb, keys: readonly string[], run: Run): Promise<KeyedFound[]> {
  const decisions = await readSignedDecisions(db, keys)
  const judged = decisions.filter(({ key, at }) => isJudged(run, key, at))
  const entries = await readEntries(db, 'players', judged)
  const found: KeyedFound[] = []
  for (const decision of judged) {
    const { key, brandId, playerId: subject } = decision
    const entry = entries(decision)
    const fault = await faultOf(run, operations.players.decideKyc, entry)
    if (fault === null) continue
    const expected = 'the signature of a person who might'
    const explanation = 'A decision on an identity is not proven by the signature of somebody of the team.'
    found.push(differs(key, { brandId, subject, expected, explanation }, entry, fault))
  }
  return found
}

const evidenceOf = { wallet: sql`wallet.reconcilable_correction`, players: sql`players.reconcilable_kyc_decision` }

/** Reads the entries of what is judged. Both statements read one snapshot, so what the first one named is there. */
async function readEntries(
  db: ReadDb,
  service: keyof typeof evidenceOf,
  judged: readonly { readonly auditId: string }[],
): Promise<(of: { readonly auditId: string }) => ExportedAuditEntry> {
  const ids = judged.map(({ auditId }) => auditId)
  const entries = await readProvenEntries(db, evidenceOf[service], sql`e.id = any(${ids}::text[])`)
  const entryOf = new Map(entries.map((entry) => [entry.id, entry]))
  return ({ auditId }) => {
    const entry = entryOf.get(auditId)
    if (entry === undefined) throw new Error(`the audit entry ${auditId} is gone`)
    return entry
  }
}

interface Fault {
  readonly why: string
  /** Another one than the question's. */
  readonly check?: string
}

/** Why an entry is not proven by those who belonged to the team at its time. */
async function faultOf(
  { team }: Run,
  operation: Operation,
  entry: ExportedAuditEntry,
  takesTwo = false,
): Promise<Fault | null> {
  try {
    const why = await team.heldAt(new Date(entry.at)).calls.faultOf(operation, entry, { takesTwo })
    return why === null ? null : { why }
  } catch (error) {
    if (error instanceof KeysUnavailable) return { why: error.message, check: evidence }
    throw error
  }
}

const differs = (
  key: string,
  said: Omit<KeyedFound['found'], 'actual'>,
  { actor, operationId }: ExportedAuditEntry,
  { why, ...check }: Fault,
): KeyedFound => ({ key, ...check, found: { ...said, actual: `${actor} (operation ${operationId}): ${why}` } })

/** Whether it is known who might do what at the time, or somebody is waiting to see it mended. */
const isJudged = ({ at, team, named }: Run, key: string, when: Date): boolean =>
  team.isRecorded || named.has(key) || at.getTime() - when.getTime() <= unrecordedMsMax

/** A signature proves what was done at its time. So a time that somebody chose would let an old login count, or none. */
const isBackdated = ({ createdAt, postedAfter }: JudgedCorrection): boolean =>
  postedAfter !== null && postedAfter.getTime() - createdAt.getTime() > overlapMs

/** Why the time of a correction is not the one at which it was signed; null when it may be. */
function timeFault(correction: JudgedCorrection, { at }: ExportedAuditEntry): string | null {
  const { createdAt, postedAfter } = correction
  if (postedAfter !== null && isBackdated(correction))
    return `its time is ${createdAt.toISOString()}, and it was posted after ${postedAfter.toISOString()}`
  if (Math.abs(Date.parse(at) - createdAt.getTime()) > overlapMs)
    return `it is recorded at ${at}, and was posted at another time`
  return null
}
