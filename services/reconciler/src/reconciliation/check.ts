import type { Difference, DifferenceClass, InFlight } from '@backoffice/contracts'
import { type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'

/**
 * What a check can be asked about. A key is the record's id; of a hold its brand and reference as a JSON array, and of a
 * history or an event the id of the record that it is about.
 */
export type Kind =
  | 'transfer'
  | 'hold'
  | 'deposit'
  | 'withdrawal'
  | 'history'
  | 'walletAudit'
  | 'paymentsAudit'
  | 'event'
  | 'play'
  | 'round'
  | 'playDay'
  | 'playDayEvent'
  | 'player'
  | 'kycChange'
  | 'statusChange'
  | 'operator'
  | 'credential'
  | 'endpoint'
  | 'documentSource'
  | 'provider'
  | 'providerKey'
  | 'providerBrand'
  | 'gameProvider'
  | 'winLimit'
  | 'heldWin'

/** What decides which checks are about a transfer. */
export interface TransferFacts {
  readonly id: string
  readonly type: string
  readonly isPosted: boolean
}

interface AboutKind {
  readonly check: string
  readonly kind: Kind
  /** Which transfers the check looks at. Without it, it looks at all of them. */
  readonly of?: (transfer: TransferFacts) => boolean
  /** False: what it looks at is counted by another question of the check. */
  readonly counts: boolean
  /** What is plain (plain-records.ts) cannot differ in what is asked. */
  readonly plain?: true
}

/** A question that PostgreSQL answers. It reads what belongs to the given keys, each by an index, and nothing else. */
export interface SqlQuestion extends AboutKind {
  /** A query with the columns key, brand_id, subject, expected, actual, explanation. */
  readonly differences: (keys: Fragment) => Fragment
}

/** A question that PostgreSQL cannot answer, because it is about signatures. */
interface ReadQuestion extends AboutKind {
  readonly find: (db: ReadDb, keys: readonly string[]) => Promise<readonly KeyedFound[]>
}

/** One question about records of a kind. */
export type Question = SqlQuestion | ReadQuestion

/** A check that PostgreSQL does by itself: its first question counts what it looks at. */
export const sqlCheck = (
  check: string,
  ...questions: readonly Omit<SqlQuestion, 'check' | 'counts'>[]
): readonly SqlQuestion[] => questions.map((question, index) => ({ check, counts: index === 0, ...question }))

export type FoundDifference = Omit<Difference, 'check' | 'class' | 'environment'>

/** The check under which stands what could not be looked at. */
export const evidence = 'evidence'

export function classOf(check: string): DifferenceClass {
  if (check === evidence) return 'evidence_missing'
  return check === 'exportedHeads' || check === 'signatures' ? 'evidence_contradicts' : 'money'
}

/** A difference with what it is about, so that a later run can look at it again. */
export interface KeyedFound {
  readonly key: string
  /** Another one than the question's. */
  readonly check?: string
  readonly found: FoundDifference
}

type Row = Omit<FoundDifference, 'subject' | 'expected' | 'actual'> & {
  readonly key: string
  readonly subject: string | null
  readonly expected: string | null
  readonly actual: string | null
}

export async function ask(db: ReadDb, question: Question, keys: readonly string[]): Promise<readonly KeyedFound[]> {
  if ('find' in question) return question.find(db, keys)
  const rows = await db<Row>`
    select d.key, d.brand_id, d.subject, d.expected, d.actual, d.explanation
    from (${question.differences(sql`unnest(${keys}::text[]) as k (key)`)}) d order by d.subject
  `
  return rows.map(({ key, subject, expected, actual, ...where }) => ({
    key,
    found: { ...where, subject: subject ?? key, expected: expected ?? 'nothing', actual: actual ?? 'nothing' },
  }))
}

/** Each check and each report lists at most this many differences and counts the rest. */
export const listedMax = 1_000
/** How long an effect may be in flight before it is a difference. */
export const inFlightSecondsMax = 300
/**
 * How far the clock of a standby may be behind. What is further in the future is a difference at once: PostgreSQL itself
 * stamps what is in flight, and age would otherwise never come.
 */
const aheadSecondsMax = 60

/** Whether something that was created at a time may still be in flight. */
export const isNotOfFuture = (at: Fragment): Fragment =>
  sql`${at} <= now() + make_interval(secs => ${aheadSecondsMax}::int)`

interface InFlightRow extends InFlight {
  readonly brandId: string | null
  readonly isOverdue: boolean
  readonly total: bigint
}

interface InFlightFound {
  readonly total: number
  readonly listed: readonly InFlight[]
  /** Those of the listed that wait for too long. */
  readonly overdue: readonly FoundDifference[]
  /** How many more there are of each brand. */
  readonly unlisted: ReadonlyMap<string | null, number>
}

/** Effects that one service has committed and another has not finished. After too long they are differences. */
export async function findInFlight(db: ReadDb): Promise<InFlightFound> {
  const rows = await db<InFlightRow>`
    ${aged}
    select service, left(name, 64) as name, left(subject, 256) as subject, brand_id, age_seconds, is_overdue,
      count(*) over () as total
    from aged order by is_overdue desc, age_seconds desc limit ${listedMax}
  `
  const counted = await db<{ brandId: string | null; count: bigint }>`
    ${aged} select brand_id, count(*) as count from aged where is_overdue group by brand_id
  `
  const unlisted = new Map(counted.map(({ brandId, count }) => [brandId, Number(count)]))
  const overdue = rows.filter(({ isOverdue }) => isOverdue)
  for (const { brandId } of overdue) unlisted.set(brandId, (unlisted.get(brandId) ?? 0) - 1)
  return {
    total: Number(rows[0]?.total ?? 0),
    listed: rows.map(({ service, name, subject, ageSeconds }) => ({ service, name, subject, ageSeconds })),
    overdue: overdue.map(({ brandId, service, name, subject, ageSeconds }) => ({
      brandId,
      subject,
      expected: `done within ${inFlightSecondsMax} s`,
      actual: ageSeconds < 0 ? `of a time that comes in ${-ageSeconds} s` : `waiting for ${ageSeconds} s`,
      explanation: `${name} of ${service} has not been finished.`,
    })),
    unlisted,
  }
}

/** Beyond it a time is none that anybody would read; and the number is a small one for every time. */
const ageSecondsMax = 1_000_000_000

/** What is in flight, as `aged`: how long it has been, by PostgreSQL's clock, and whether that is too long. */
const aged = sql`
  with waiting as (
    select 'payments' as service, name, aggregate as subject, created_at, brand_id
      from payments.reconcilable_outbox
    union all
    select 'wallet', name, aggregate, created_at, brand_id from wallet.reconcilable_outbox
    union all
    -- Only commands: what else the service tells is not about money, and no concern of the reconciler's.
    select 'players', o.name, o.aggregate, o.created_at, p.brand_id
      from players.reconcilable_outbox o left join players.reconcilable_player p on p.id = o.aggregate where o.kind = 'command'
    union all
    select 'payments', 'intent', id, created_at, brand_id from payments.reconcilable_withdrawal where status = 'intent'
  ), aged as (
    select service, name, subject, brand_id,
      created_at < now() - make_interval(secs => ${inFlightSecondsMax}::int) or not ${isNotOfFuture(sql`created_at`)} as is_overdue,
      greatest(${-ageSecondsMax}::int, least(${ageSecondsMax}::int,
        floor(extract(epoch from now()) - extract(epoch from created_at))))::integer as age_seconds
    from waiting
  )
`
