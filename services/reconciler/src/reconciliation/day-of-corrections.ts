import { aloneHours } from '@backoffice/contracts'
import { hourMs } from '@backoffice/process'
import { type ReadDb, sql } from '@backoffice/service-runtime'
import { withAudit } from './ledger-checks.ts'
import { overlapMs } from './sources.ts'

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
