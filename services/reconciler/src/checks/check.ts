import type { Difference, DifferenceClass, Environment } from '@backoffice/contracts'
import { type Fragment, type ReadDb, sql, sqlState } from '@backoffice/service-runtime'
import type { Snapshot } from '../storage/snapshots.ts'

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
  | 'player'
  | 'kycChange'
  | 'statusChange'
  | 'operator'
  | 'credential'
  | 'endpoint'
  | 'documentSource'

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

/** What the differences of a check say. */
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

/** Asks a question about some keys. */
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

/**
 * The environments of brands, as the wallet was told when they were created. A brand that it does not know is taken for
 * one of production, because that is about real money.
 */
export async function readEnvironments(
  db: ReadDb,
  brands: readonly string[],
): Promise<(brandId: string | null) => Environment> {
  const rows = await db<{ id: string; environment: Environment }>`
    select id, environment from wallet.brand where id = any(${brands}::text[])
  `
  const environments = new Map(rows.map(({ id, environment }) => [id, environment]))
  return (brandId) => (brandId === null ? undefined : environments.get(brandId)) ?? 'production'
}

/** The environment of a brand, for a statement. */
export const environmentOf = (brandId: Fragment): Fragment =>
  sql`coalesce((select environment from wallet.brand where id = ${brandId}), 'production')`

const tables = {
  deposit: sql`payments.reconcilable_deposit`,
  withdrawal: sql`payments.reconcilable_withdrawal`,
  player: sql`players.reconcilable_player`,
}

/** Each record is of the environment of its brand, which its own service did not choose. */
export const environments = (['deposit', 'withdrawal', 'player'] as const).map(
  (kind): SqlQuestion => ({
    ...{ check: 'environments', kind, counts: true },
    differences: (keys) => sql`
      select k.key, r.brand_id, r.id as subject, format('%s, as brand %s', ${environmentOf(sql`r.brand_id`)}, r.brand_id) as expected,
        r.environment as actual, 'A record is of another environment than its brand.' as explanation
      from ${keys} join ${tables[kind]} r on r.id = k.key
      where r.environment <> ${environmentOf(sql`r.brand_id`)}
    `,
  }),
)

/** Where an incremental run begins. */
export interface Since {
  /** Everything of transactions below this one was looked at. */
  readonly below: bigint
  /** Ids that were made before this moment were looked at. */
  readonly at: Date
}

/** Times of ids and of rows come from the clocks of processes, and a row is seen when its transaction ends. */
export const overlapMs = 10 * 60_000

/**
 * Faults of what is stored: values that do not fit together (21, 22, 23), a limit (54), a failed assertion (P0), a page
 * that is broken (58, XX). With any other the next statement fails too.
 */
const faultsOfData = /^(2[123]|54|58|P0|XX)/

/** Without a state it is a fault of ours in reading the row, or the connection's: then the next statement fails too. */
export function isFaultOfData(error: unknown): boolean {
  const state = sqlState(error)
  return state === undefined || faultsOfData.test(state)
}

/**
 * Reads what belongs to some keys. Where that fails because of what one of them holds, the keys are halved until those that
 * fail are alone, so that nobody who can write one row can keep the others from being read.
 * @param unreadable is told of each key that cannot be read
 * @throws what has nothing to do with a key: the connection is lost, a statement took too long, a right is missing
 */
export async function readEach<Key, Read>(
  db: Snapshot,
  keys: readonly Key[],
  read: (keys: readonly Key[]) => Promise<readonly Read[]>,
  unreadable: (key: Key, error: unknown) => void,
): Promise<Read[]> {
  try {
    return [...(await read(keys))]
  } catch (error) {
    if (!isFaultOfData(error)) throw error
    await db.rewind()
    if (keys.length > 1) {
      const half = Math.ceil(keys.length / 2)
      const first = await readEach(db, keys.slice(0, half), read, unreadable)
      return [...first, ...(await readEach(db, keys.slice(half), read, unreadable))]
    }
    for (const key of keys) unreadable(key, error)
    return []
  }
}

/** What is found of a record that cannot be read: whether it is right is not known. */
export const unreadable = (subject: string, error: unknown, brandId: string | null = null): FoundDifference => ({
  brandId,
  subject,
  expected: 'a record that can be read',
  actual: `cannot be read: ${error instanceof Error ? error.message : error}`,
  explanation: 'A record, or one that belongs to it, cannot be read. Nobody knows whether it is right.',
})
