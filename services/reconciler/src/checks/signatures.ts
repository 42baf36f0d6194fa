import { aloneHours, type ExportedAuditEntry, fromMinorUnits, operations } from '@backoffice/contracts'
import { hourMs } from '@backoffice/process'
import { type ReadDb, sql } from '@backoffice/service-runtime'
import { environmentOf, type KeyedFound, type Kind, overlapMs, type Question, readEnvironments } from './check.ts'
import { withAudit } from './ledger.ts'
import { isAuditOfDecision, productionDecisions, readStatusDecisions } from './players.ts'
import { signedSettings } from './settings.ts'
import {
  type CalledFor,
  type CallsShown,
  differs,
  faultOf,
  findUnproven,
  isJudged,
  isTimeCertain,
  type Judging,
  readEntries,
} from './signed-calls.ts'

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
    ...{ ...ofSignatures, kind: 'transfer' },
    of: ({ type, isPosted }) => isPosted && (type === 'ADJUSTMENT' || type === 'REVERSAL'),
    find: (db, keys) => findUnsignedCorrections(db, keys, run),
  },
  ...effects.map(
    ({ kind, shown, read, explanation }): Question => ({
      ...{ ...ofSignatures, kind },
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
export async function readDecisionsOnWithdrawals(db: ReadDb, keys: readonly string[]): Promise<CalledFor[]> {
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

export async function readGivenUpCredits(db: ReadDb, keys: readonly string[]): Promise<CalledFor[]> {
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

export async function readDecisionsOnIdentities(db: ReadDb, keys: readonly string[]): Promise<CalledFor[]> {
  const rows = await db<Row<{ playerId: string; status: string | null }>>`
    select c.key, c.brand_id, c.player_id as subject, c.at, a.id as audit_id, c.player_id, c.next as status
    from (select k.key, c.*, p.brand_id from unnest(${keys}::text[]) as k (key) ${productionDecisions}) c
    join players.reconcilable_audit a on ${isAuditOfDecision} and a.signed
  `
  return rows.map(({ playerId, status, ...row }) => {
    return { ...row, operation: operations.players.decideKyc, says: { playerId, status } }
  })
}

const aloneMs = aloneHours * hourMs
/** The time of a transfer may differ from that of its audit entry. */
const nearSeconds = (aloneMs + overlapMs) / 1_000

/** An adjustment or reversal, with what the audit trail says of it. */
export interface Correction {
  readonly key: string
  readonly brandId: string
  /** The player's; null where neither side of it is a player's. */
  readonly accountId: bigint | null
  readonly operation: 'adjustWallet' | 'reverseTransfer'
  readonly auditId: string
  readonly actor: string
  /** Their account: the same person under another name. */
  readonly actorId: string | null
  /** As the audit trail says. */
  readonly at: Date
  /** It followed from no proposal. */
  readonly isAlone: boolean
  /** As the wallet wrote it. */
  readonly createdAt: Date
  /** In which transaction it was posted, and a moment before that, as PostgreSQL says it; null when there is none. */
  readonly postedIn: bigint
  readonly postedAfter: Date | null
  readonly amount: bigint
}

/** A correction that is to be judged. */
export interface JudgedCorrection extends Correction {
  /** With what the same person corrected alone of the player's balance in the hours before, in minor units. */
  readonly sum: bigint
}

/**
 * The corrections of some keys, and later ones of the same day that must be judged again: a correction that is given an
 * earlier time counts for them.
 */
export async function readToJudge(db: ReadDb, keys: readonly string[]): Promise<JudgedCorrection[]> {
  const near = await findNear(db, keys)
  const corrections = await readCorrections(db, [...new Set([...keys, ...near])])
  const asked = new Set(keys)
  const begins = new Map<bigint | null, Date>()
  for (const { key, accountId, at } of corrections) {
    const begin = begins.get(accountId)
    if (asked.has(key) && (begin === undefined || at < begin)) begins.set(accountId, at)
  }
  const alone = corrections.filter(({ isAlone }) => isAlone)
  return corrections
    .filter(({ accountId, at }) => at >= (begins.get(accountId) ?? never))
    .map((correction) => ({
      ...correction,
      sum: sumWith(
        correction,
        alone.filter((other) => isOfSame(correction, other)),
      ),
    }))
}

const never = new Date(8_640_000_000_000_000)

const isOfSame = (one: Correction, other: Correction): boolean =>
  one.accountId === other.accountId &&
  (one.actor === other.actor || (one.actorId !== null && one.actorId === other.actorId))

/** As the wallet counts at the moment of a call. What two agreed to counts for nobody. */
function sumWith({ amount, at, isAlone }: Correction, ofPerson: readonly Correction[]): bigint {
  if (!isAlone) return amount
  const begin = at.getTime() - aloneMs
  const ofDay = ofPerson.filter((other) => other.at.getTime() > begin && other.at <= at)
  return ofDay.reduce((sum, other) => sum + other.amount, 0n)
}

/** Corrections of the same players, from a day before to a day after. */
async function findNear(db: ReadDb, keys: readonly string[]): Promise<string[]> {
  const isNear = sql`t.type in ('ADJUSTMENT', 'REVERSAL') and t.outcome = 'posted'
    and t.created_at > c.created_at - make_interval(secs => ${nearSeconds}::float8)
    and t.created_at < c.created_at + make_interval(secs => ${nearSeconds}::float8)`
  const rows = await db<{ key: string }>`
    select near.id as key from unnest(${keys}::text[]) as k (key)
    join wallet.transfer c on c.id = k.key
    join wallet.account a on a.id in (c.debit_account, c.credit_account) and a.owner_id is not null
    cross join lateral (
      select t.id from wallet.transfer t where t.credit_account = a.id and ${isNear}
      union all select t.id from wallet.transfer t where t.debit_account = a.id and ${isNear}
    ) near
  `
  return rows.map(({ key }) => key)
}

/** Those that the audit trail knows; the check `corrections` names the others. */
async function readCorrections(db: ReadDb, keys: readonly string[]): Promise<Correction[]> {
  const rows = await db<Omit<Correction, 'postedIn'> & { postedIn: string | null }>`
    select p.key, p.brand_id, p.operation, p.created_at, t.amount, e.id as audit_id, e.actor, e.actor_id, e.at, (
      select o.id from wallet.account o
      where o.id in (t.debit_account, t.credit_account) and o.owner_id is not null order by o.id limit 1
    ) as account_id, not e.proposed as is_alone, posted.xid::text as posted_in, (
      select m.at from reconciler.moment m where m.xid <= posted.xid order by m.xid desc limit 1
    ) as posted_after
    from ${withAudit(sql`unnest(${keys}::text[]) as k (key)`)}
    join wallet.transfer t on t.id = p.key
    join wallet.reconcilable_audit e on e.id = a.id
    left join lateral (
      select e.xid from wallet.entry e where e.transfer_id = p.key order by e.xid limit 1
    ) posted on true
  `
  return rows.map(({ postedIn, ...correction }) => ({ ...correction, postedIn: BigInt(postedIn ?? 0) }))
}
