import { aloneHours, type ExportedAuditEntry, fromMinorUnits, operations } from '@backoffice/contracts'
import { type ReadDb, readProvenEntries, sql } from '@backoffice/service-runtime'
import { IdentityRefused, KeysUnavailable } from '@backoffice/team-identity'
import { evidence, type KeyedFound, type Question } from './check.ts'
import { type Correction, readToJudge } from './day-of-corrections.ts'
import { readEnvironments } from './environments.ts'
import { overlapMs } from './sources.ts'
import type { TeamHistory } from './team-history.ts'

/**
 * How far back corrections are judged by today's keys and settings where former ones are not recorded. What is older may have
 * been done by others.
 */
const unrecordedMsMax = 24 * 3_600_000

interface Run {
  readonly at: Date
  readonly team: TeamHistory
  /** Transfers whose signatures the run before found wanting. They are judged again, whatever their age. */
  readonly named: ReadonlySet<string>
}

/**
 * Every adjustment and reversal was signed by a person of the team who might make it, and by two where it took two: above an
 * amount, up to which what one person corrects alone of a player's balance within a day counts together. The audit trail
 * alone could have been written by whoever has the rights of the wallet; the signatures could not.
 */
export const signatures = (run: Run): Question => ({
  check: 'signatures',
  kind: 'transfer',
  counts: true,
  of: ({ type, isPosted }) => isPosted && (type === 'ADJUSTMENT' || type === 'REVERSAL'),
  find: (db, keys) => findDifferences(db, keys, run),
})

async function findDifferences(db: ReadDb, keys: readonly string[], run: Run): Promise<KeyedFound[]> {
  const signedFrom = signedFromOf(run)
  const corrections = await readToJudge(db, keys)
  const mustBeSigned = corrections.filter(
    (correction) => correction.createdAt >= signedFrom || isBackdated(correction) || run.named.has(correction.key),
  )
  const [entries, environmentOf] = await Promise.all([
    readProvenEntries(db, 'wallet', sql`e.id = any(${mustBeSigned.map(({ auditId }) => auditId)}::text[])`),
    readEnvironments(db, [...new Set(mustBeSigned.map(({ brandId }) => brandId))]),
  ])
  const entryOf = new Map(entries.map((entry) => [entry.id, entry]))
  const found: KeyedFound[] = []
  for (const correction of mustBeSigned) {
    const { key, brandId, operation, auditId, amount, sum } = correction
    const entry = entryOf.get(auditId)
    // Both statements read one snapshot, so an entry that the first one named is there in the second.
    if (entry === undefined) throw new Error(`the audit entry ${auditId} is gone`)
    const { calls, aloneUpTo } = run.team.heldAt(new Date(entry.at))
    const takesTwo = environmentOf(brandId) === 'production' && sum > aloneUpTo
    let check: string | undefined
    const fault =
      timeFault(correction, entry) ??
      (await calls.verify(operations.wallet[operation], entry, { takesTwo }).then(
        () => null,
        (error) => {
          if (error instanceof KeysUnavailable) check = evidence
          else if (!(error instanceof IdentityRefused)) throw error
          return error.message
        },
      ))
    if (fault === null) continue
    const expected = takesTwo ? 'the signatures of two people who might' : 'the signature of a person who might'
    // No single one shows why.
    const together =
      takesTwo && amount <= aloneUpTo ? `: ${fromMinorUnits(sum)} for this player within ${aloneHours} hours` : ''
    const actual = `${entry.actor} (operation ${entry.operationId}): ${fault}${together}`
    const explanation = 'An adjustment or reversal is not proven by signatures of the team.'
    found.push({ key, ...(check && { check }), found: { brandId, subject: key, expected, actual, explanation } })
  }
  return found
}

/** From when on corrections must be signed. */
const signedFromOf = ({ at, team }: Run): Date => new Date(team.isRecorded ? 0 : at.getTime() - unrecordedMsMax)

/** A signature proves what was done at its time. So a time that somebody chose would let an old login count, or none. */
const isBackdated = ({ createdAt, postedAfter }: Correction): boolean =>
  postedAfter !== null && postedAfter.getTime() - createdAt.getTime() > overlapMs

/** Why the time of a correction is not the one at which it was signed; null when it may be. */
function timeFault(correction: Correction, { at }: ExportedAuditEntry): string | null {
  const { createdAt, postedAfter } = correction
  if (postedAfter !== null && isBackdated(correction))
    return `its time is ${createdAt.toISOString()}, and it was posted after ${postedAfter.toISOString()}`
  if (Math.abs(Date.parse(at) - createdAt.getTime()) > overlapMs)
    return `it is recorded at ${at}, and was posted at another time`
  return null
}
