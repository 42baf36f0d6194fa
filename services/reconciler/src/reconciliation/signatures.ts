import { aloneHours, type ExportedAuditEntry, fromMinorUnits, operations } from '@backoffice/contracts'
import { type ReadDb, sql } from '@backoffice/service-runtime'
import type { KeyedFound, Kind, Question } from './check.ts'
import { isTimeCertain } from './clock-steps.ts'
import { type JudgedCorrection, readToJudge } from './day-of-corrections.ts'
import { environmentOf, readEnvironments } from './environments.ts'
import { readStatusDecisions } from './player-status-checks.ts'
import { isAuditOfDecision, productionDecisions } from './players-checks.ts'
import { signedSettings } from './settings-checks.ts'
import {
  type CalledFor,
  type CallsShown,
  differs,
  faultOf,
  findUnproven,
  isJudged,
  type Judging,
  readEntries,
} from './signed-calls.ts'
import { overlapMs } from './sources.ts'

interface Effect {
  readonly kind: Kind
  readonly shown: CallsShown
  readonly read: (db: ReadDb, keys: readonly string[]) => Promise<readonly CalledFor[]>
  readonly explanation: string
}

/** What people of the team cause, by the records that show it. */
const effects: readonly Effect[] = [
  {
    ...{ kind: 'withdrawal', shown: 'payments', read: readDecisionsOnWithdrawals },
    explanation: 'A decision on a withdrawal is not proven by the call that somebody of the team has signed.',
  },
  {
    ...{ kind: 'deposit', shown: 'payments', read: readGivenUpCredits },
    explanation: 'That a credit was given up is not proven by signatures of the team.',
  },
  {
    ...{ kind: 'kycChange', shown: 'players', read: readDecisionsOnIdentities },
    explanation: 'A decision on an identity is not proven by the signature of somebody of the team.',
  },
  {
    ...{ kind: 'statusChange', shown: 'settings', read: readStatusDecisions },
    explanation: 'What a player may do is not proven by the call that somebody of the team has signed.',
  },
]

const ofSignatures = { check: 'signatures', counts: true } as const

/** The audit trail alone could have been written by whoever has the rights of a service; the signatures could not. */
export const signatures = (run: Judging): readonly Question[] => [
  {
    ...{ ...ofSignatures, kind: 'transfer', plain: true },
    of: ({ type, isPosted }) => isPosted && (type === 'ADJUSTMENT' || type === 'REVERSAL'),
    find: (db, keys) => findUnsignedCorrections(db, keys, run),
  },
  ...effects.map(
    ({ kind, shown, read, explanation }): Question => ({
      ...{ ...ofSignatures, kind, plain: true },
      find: async (db, keys) => findUnproven(db, shown, await read(db, keys), { run, explanation }),
    }),
  ),
  ...signedSettings(run),
]

/**
 * Every adjustment and reversal was signed by a person of the team who might make it, and by two where it took two: above an
 * amount, up to which what one person corrects alone of a player's balance within a day counts together.
 */
async function findUnsignedCorrections(db: ReadDb, keys: readonly string[], run: Judging): Promise<KeyedFound[]> {
  const corrections = await readToJudge(db, keys)
  const backdated = corrections.filter((one) => isBackdated(run, one))
  const judged = corrections.filter((one) => isJudged(run, one.key, one.createdAt) || backdated.includes(one))
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
    const late = timeFault(correction, entry, backdated.includes(correction))
    const how = { takesTwo, isTimeCertain: isTimeCertain(run, 'wallet', correction.postedIn) }
    const fault = late === null ? await faultOf(run, operations.wallet[operation], entry, how) : { why: late }
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

/** A signature proves what was done at its time. So a time that somebody chose would let an old login count, or none. */
const isBackdated = (run: Judging, { createdAt, postedAfter, postedIn }: JudgedCorrection): boolean =>
  postedAfter !== null &&
  postedAfter.getTime() - createdAt.getTime() > overlapMs &&
  isTimeCertain(run, 'wallet', postedIn)

/** Why the time of a correction is not the one at which it was signed; null when it may be. */
function timeFault(
  { createdAt, postedAfter }: JudgedCorrection,
  { at }: ExportedAuditEntry,
  isBackdated: boolean,
): string | null {
  if (isBackdated)
    return `its time is ${createdAt.toISOString()}, and it was posted after ${postedAfter?.toISOString()}`
  if (Math.abs(Date.parse(at) - createdAt.getTime()) > overlapMs)
    return `it is recorded at ${at}, and was posted at another time`
  return null
}

// What was done in production because people of the team called for it. What has no entry in the trail is left out here: other
// checks name it.

type Row<Fields> = Omit<CalledFor, 'operation' | 'says'> & Fields

const decisionOf: Readonly<Record<string, string>> = {
  approved: 'approve',
  rejected: 'reject',
  paid: 'pay',
  failed: 'fail',
}

/** The destination is sealed: whoever decides about one withdrawal must have seen the same one as who decided first. */
async function readDecisionsOnWithdrawals(db: ReadDb, keys: readonly string[]): Promise<CalledFor[]> {
  const rows = await db<
    Row<{ playerId: string; amount: bigint; currency: string; toStatus: string; destinationDigest: string | null }>
  >`
    select w.id as key, w.brand_id, w.id as subject, s.at, a.id as audit_id, w.player_id, w.amount, w.currency, s.to_status,
      first_value(reconciler.json_text(a.input, 'destinationDigest')) over (partition by w.id order by s.version) as destination_digest
    from unnest(${keys}::text[]) as k (key)
    join payments.reconcilable_withdrawal w on w.id = k.key
    join payments.reconcilable_transition s on s.record_id = w.id and s.by_kind = 'team'
    join payments.reconcilable_audit a on (a.subject, a.operation, a.operation_id, a.outcome)
      = (w.id, 'decideWithdrawal', s.operation_id, 'done')
    where ${environmentOf(sql`w.brand_id`)} = 'production'
  `
  return rows.map(({ playerId, amount, currency, toStatus, destinationDigest, ...row }) => {
    const what = { withdrawalId: row.key, playerId, amount: fromMinorUnits(amount), currency, destinationDigest }
    const says = { ...what, decision: decisionOf[toStatus] ?? toStatus }
    return { ...row, operation: operations.payments.decideWithdrawal, says }
  })
}

async function readGivenUpCredits(db: ReadDb, keys: readonly string[]): Promise<CalledFor[]> {
  const rows = await db<Row<{ commandId: string }>>`
    select d.id as key, d.brand_id, d.id as subject, s.at, a.id as audit_id, e.command_id
    from unnest(${keys}::text[]) as k (key)
    join payments.reconcilable_deposit d on d.id = k.key
    join payments.reconcilable_ended_command e on e.deposit_id = d.id
    join payments.reconcilable_transition s on (s.record_id, s.by_kind, s.operation_id) = (d.id, 'team', e.operation_id)
    join payments.reconcilable_audit a on (a.subject, a.operation, a.operation_id, a.outcome)
      = (e.command_id, 'endCommand', e.operation_id, 'done')
    where ${environmentOf(sql`d.brand_id`)} = 'production'
  `
  return rows.map(({ commandId, ...row }) => {
    return { ...row, operation: operations.payments.endCommand, says: { commandId } }
  })
}

async function readDecisionsOnIdentities(db: ReadDb, keys: readonly string[]): Promise<CalledFor[]> {
  const rows = await db<Row<{ playerId: string; status: string | null }>>`
    select c.key, c.brand_id, c.player_id as subject, c.at, a.id as audit_id, c.player_id, c.next as status
    from (select k.key, c.*, p.brand_id from unnest(${keys}::text[]) as k (key) ${productionDecisions}) c
    join players.reconcilable_audit a on ${isAuditOfDecision} and a.signed
  `
  return rows.map(({ playerId, status, ...row }) => {
    return { ...row, operation: operations.players.decideKyc, says: { playerId, status } }
  })
}
