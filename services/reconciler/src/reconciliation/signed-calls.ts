import type { ExportedAuditEntry, Operation, ServiceName } from '@backoffice/contracts'
import { type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'
import { readProvenEntries } from '@backoffice/team-access'
import { KeysUnavailable, objectOf } from '@backoffice/team-access/identity'
import { evidence, type KeyedFound } from './check.ts'
import { type ClockSteps, isTimeCertain, momentsOf, type OtherDatabases } from './clock-steps.ts'
import { overlapMs } from './sources.ts'
import type { TeamHistory } from './team-history.ts'

/** Something that was done, with the entry of the trail that says who called for it. */
export interface CalledFor {
  readonly key: string
  readonly brandId: string | null
  readonly subject: string
  /** As its service wrote it. */
  readonly at: Date
  readonly operation: Operation
  readonly auditId: string
  /** What was done, in the words of the call. */
  readonly says: Readonly<Record<string, unknown>>
  /** Whether it takes two people for a reason that the call does not show. */
  readonly takesTwo?: boolean
}

/** What is judged about a call, and by whom. */
export interface Judging {
  readonly at: Date
  readonly team: TeamHistory
  /** Records whose signatures the run before found wanting. They are judged again, whatever their age. */
  readonly named: ReadonlySet<string>
  /** What stood before was judged by the run before; null in a full run. */
  readonly since: Date | null
  /** Whether operators get a pair for production as they are created. */
  readonly isDevelopment: boolean
  readonly otherDatabases: OtherDatabases
  readonly clockSteps: ClockSteps
}

/**
 * How far back calls are judged by today's keys and settings where former ones are not recorded. What is older may have been
 * done by others.
 */
const unrecordedMsMax = 24 * 3_600_000

/** Whether it is known who might do what at the time, or somebody is waiting to see it mended. */
export const isJudged = ({ at, team, named }: Judging, key: string, when: Date): boolean =>
  team.isRecorded || named.has(key) || at.getTime() - when.getTime() <= unrecordedMsMax

/** The views in which services show the calls that are judged. */
const views = {
  wallet: 'wallet.reconcilable_correction',
  players: 'players.reconcilable_kyc_decision',
  payments: 'payments.reconcilable_decision',
  settings: 'players.reconcilable_setting',
  operators: 'gateway.reconcilable_setting',
  endpoints: 'webhooks.reconcilable_setting',
  play: 'wallet.reconcilable_setting',
} as const satisfies Readonly<Record<string, `${ServiceName}.${string}`>>
export type CallsShown = keyof typeof views

export const callsIn = (shown: CallsShown): Fragment => sql.fixed(views[shown])
const serviceOf = (shown: CallsShown) => views[shown].split('.')[0] as ServiceName

interface Audited {
  readonly auditId: string
}

/** Reads the entries of what is judged. All statements read one snapshot, so what the first one named is there. */
export async function readEntries(
  db: ReadDb,
  shown: CallsShown,
  judged: readonly Audited[],
): Promise<(of: Audited) => ExportedAuditEntry> {
  const ids = judged.map(({ auditId }) => auditId)
  const entries = await readProvenEntries(db, callsIn(shown), sql`e.id = any(${ids}::text[])`)
  const entryOf = new Map(entries.map((entry) => [entry.id, entry]))
  return ({ auditId }) => entryOrThrow(entryOf.get(auditId), auditId)
}

function entryOrThrow<T>(entry: T | undefined, auditId: string): T {
  if (entry === undefined) throw new Error(`the audit entry ${auditId} is gone`)
  return entry
}

/** What PostgreSQL says of an entry, whatever its service wrote. */
interface Written extends Audited {
  /** A moment before it was written; null when there is none. */
  readonly writtenAfter: Date | null
  readonly isUsedTwice: boolean
  /** False: PostgreSQL's own clock went back about then, so no time of it says anything. */
  readonly isTimeCertain: boolean
}

async function readWritten(
  db: ReadDb,
  shown: CallsShown,
  judged: readonly Audited[],
  run: Judging,
): Promise<(of: Audited) => Written> {
  const rows = await db<Omit<Written, 'isTimeCertain'> & { xid: string }>`
    select c.id as audit_id, c.xid::text as xid, exists (
      select from ${callsIn(shown)} o
      where o.subject = c.subject and o.operation_id = c.operation_id and o.id <> c.id and o.outcome = 'done'
    ) as is_used_twice, (
      select m.at from ${momentsOf(serviceOf(shown), run.otherDatabases)} m where m.xid <= c.xid order by m.xid desc limit 1
    ) as written_after
    from ${callsIn(shown)} c where c.id = any(${judged.map(({ auditId }) => auditId)}::text[])
  `
  const written = rows.map(({ xid, ...row }) => {
    return { ...row, isTimeCertain: isTimeCertain(run, serviceOf(shown), BigInt(xid)) }
  })
  const of = new Map(written.map((row) => [row.auditId, row]))
  return ({ auditId }) => entryOrThrow(of.get(auditId), auditId)
}

/** Finds what was not done by the signed call that its entry shows. Each call has one effect. */
export async function findUnproven(
  db: ReadDb,
  shown: CallsShown,
  effects: readonly CalledFor[],
  { run, explanation }: { readonly run: Judging; readonly explanation: string },
): Promise<KeyedFound[]> {
  const written = await readWritten(db, shown, effects, run)
  const judged = effects.filter((one) => isJudged(run, one.key, one.at) || isBackdated(one, written(one)))
  const entries = await readEntries(db, shown, judged)
  const all: KeyedFound[] = []
  for (const effect of judged) {
    const entry = entries(effect)
    const { takesTwo = false } = effect
    const { isTimeCertain } = written(effect)
    const why = faultOfEffect(effect, entry, written(effect))
    const fault = why === null ? await faultOf(run, effect.operation, entry, { takesTwo, isTimeCertain }) : { why }
    if (fault === null) continue
    const { key, brandId, subject } = effect
    const expected = 'a call that somebody has signed who might'
    all.push(differs(key, { brandId, subject, expected, explanation }, entry, fault))
  }
  return all
}

/** A signature proves what was done at its time. So a time that somebody chose would let an old login count. */
const isBackdated = ({ at }: CalledFor, { writtenAfter, isTimeCertain }: Written): boolean =>
  isTimeCertain && writtenAfter !== null && writtenAfter.getTime() - at.getTime() > overlapMs

/** Why what was done is not what an entry says; null when it may be. */
function faultOfEffect(effect: CalledFor, entry: ExportedAuditEntry, written: Written): string | null {
  const { at, says } = effect
  if (Math.abs(Date.parse(entry.at) - at.getTime()) > overlapMs)
    return `it is recorded at ${entry.at}, and was done at ${at.toISOString()}`
  if (written.writtenAfter !== null && isBackdated(effect, written))
    return `its time is ${at.toISOString()}, and it was written after ${written.writtenAfter.toISOString()}`
  if (written.isUsedTwice) return 'the call was used twice'
  const input = objectOf(entry.input)
  const signed = (name: string) => JSON.stringify(input[name])
  const other = Object.keys(says).find((name) => signed(name) !== JSON.stringify(says[name]))
  return other === undefined
    ? null
    : `the call says ${other} ${signed(other)}, and it is ${JSON.stringify(says[other])}`
}

export interface Fault {
  readonly why: string
  /** Another one than the question's. */
  readonly check?: string
}

/** Why an entry is not proven by those who belonged to the team at its time. */
export async function faultOf(
  { team }: Judging,
  operation: Operation,
  entry: ExportedAuditEntry,
  how: { readonly takesTwo: boolean; readonly isTimeCertain: boolean },
): Promise<Fault | null> {
  try {
    const why = await team.heldAt(new Date(entry.at)).calls.faultOf(operation, entry, how)
    return why === null ? null : { why }
  } catch (error) {
    if (error instanceof KeysUnavailable) return { why: error.message, check: evidence }
    throw error
  }
}

export const differs = (
  key: string,
  said: Omit<KeyedFound['found'], 'actual'>,
  { actor, operationId }: ExportedAuditEntry,
  { why, ...check }: Fault,
): KeyedFound => ({ key, ...check, found: { ...said, actual: `${actor} (operation ${operationId}): ${why}` } })
