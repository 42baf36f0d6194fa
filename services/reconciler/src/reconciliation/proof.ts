import { sql } from '@backoffice/service-runtime'
import { piecesInAll } from '../storage/proofs.ts'
import {
  endOfRows,
  endOfTransfers,
  type IdRange,
  nameDeposits,
  nameTransfers,
  readChained,
  readDeposits,
  readHistories,
  readTransfers,
} from './bulk.ts'
import type { FoundDifference, Kind } from './check.ts'
import { type Examination, isFaultOfData } from './examination.ts'
import { allPlayers } from './players-checks.ts'
import type { Snapshot, Snapshots } from './snapshots.ts'
import {
  estimate,
  inOrder,
  isOlder,
  paged,
  pagesOf,
  type Share,
  type Source,
  type SourcePage,
  sourcesOf,
} from './sources.ts'
import { type CurrencySums, readSystemSums, type SystemAccount, SystemSum } from './system-check.ts'

/** So many pages of questions are one page of a proof: nearly all of it is plain. */
const pagesOfProof = 5

/** What goes through records page by page. */
interface Through {
  readonly snapshots: Snapshots
  readonly examination: Examination
  /** How many records one snapshot looks at. */
  readonly limit: number
  readonly progress: (check: string, done: number, total: number) => void
}

/** Page after page of one source, each in a snapshot of its own. */
export async function goThrough(
  source: Source,
  { snapshots, examination, limit, progress }: Through,
  also: (db: Parameters<Examination['examine']>[0], keys: readonly string[]) => Promise<void> = async () => {},
): Promise<void> {
  const total = await snapshots.see((db) => estimate(db, source.table))
  let done = 0
  for (let after = source.first; ; ) {
    const page = await snapshots.see(async (db) => {
      const page = await source.page(db, after, limit).catch(async (error) => {
        if (!isFaultOfData(error)) throw error
        await db.rewind()
        return source.page(db, after, limit, 'all')
      })
      await examination.examine(db, source.kind, page.keys)
      await also(db, page.keys)
      return page
    })
    examination.comparedPlain(source.kind, page.plain)
    done += page.read
    progress(source.kind, done, total)
    if (page.next === null) return
    after = page.next
  }
}

interface ToProve {
  readonly share: Share
  readonly systemAccounts: readonly SystemAccount[]
  readonly endedBelow: bigint
  /** Confirmations from before this moment are plain, whatever operators were told of them. */
  readonly toldBefore: Date
  readonly examination: Examination
  /** Whether payments are in another database: a look at each record there is a way there and back, so all is asked. */
  readonly isOfTwo: boolean
  readonly limit: number
  readonly progress: Through['progress']
  readonly sums: CurrencySums
  readonly found: (check: 'chains', found: FoundDifference) => void
  /** That so many entries of players were held against those before them. */
  readonly compared: (entries: number) => void
  /** Looks at the ends of chains, of which all links are proven with their transfers. */
  readonly lookAtEnds: (snapshots: Snapshots, ids: readonly bigint[], broken: (id: bigint) => void) => Promise<void>
  /** Follows chains from their first entries, and says what is wrong. */
  readonly follow: (snapshots: Snapshots, ids: readonly bigint[]) => Promise<void>
}

/** For more connections than two the large parts are divided: each reads the keys of all, and looks at its own. */
function divided(share: Share, connections: number): readonly Share[] {
  if (connections <= 2) return [share]
  const pieces = share ?? Array.from({ length: piecesInAll }, (_, piece) => piece)
  return Array.from({ length: connections }, (_, place) => pieces.filter((_, index) => index % connections === place))
}

/**
 * Looks at all that was ever entered, or at some pieces of it, and believes nothing that a run before has verified. What
 * there is to do is divided among some connections: each takes the next part, and PostgreSQL does the work.
 * @returns the sums of the system accounts, from their first entries on
 */
export async function prove(connections: readonly Snapshots[], what: ToProve): Promise<readonly SystemSum[]> {
  const { share, systemAccounts, endedBelow, examination, limit } = what
  const sums = systemAccounts.map((account) => new SystemSum(account, null))
  const shares = divided(share, connections.length)
  const broken = new Set<bigint>()
  const through = (source: Source, also?: Parameters<typeof goThrough>[2]) => (snapshots: Snapshots) =>
    goThrough(source, { ...what, snapshots, limit: limit * pagesOfProof }, also)
  const examineDeposits = (db: Snapshot, ids: readonly string[]) => examination.examine(db, 'deposit', ids)
  const examineDepositsOf = async (db: Snapshot, transfers: readonly string[]) =>
    examineDeposits(db, await depositsOf(db, transfers))
  const parts = [
    ...shares.flatMap((one) => {
      const { transfers, deposits, histories } = largeSources(one, what, broken)
      return [
        // What its transfer is, a plain deposit leaves to the transfer.
        through(transfers, isPlainEnough('deposit', what) ? examineDepositsOf : undefined),
        through(deposits),
        through(histories),
      ]
    }),
    ...shares.map((one) => (snapshots: Snapshots) => allEnds(snapshots, { ...what, share: one }, broken)),
    ...(what.isOfTwo ? [] : [through(depositors(share))]),
    ...sourcesOf(null, endedBelow, share).map((source) =>
      // Of an old confirmation nobody need be told. What is told all the same must be right.
      through(source, source.kind === 'event' ? (db, ids) => examineDeposits(db, ids.filter(isOld)) : undefined),
    ),
    ...sums.map((sum) => (snapshots: Snapshots) => addUp(snapshots, sum, what)),
  ].values()
  const work = async (snapshots: Snapshots) => {
    for (const part of parts) await part(snapshots)
  }
  await Promise.all(connections.map(work))
  for (const snapshots of connections.slice(0, 1))
    for (const ids of pagesOf([...broken].sort(inOrder), limit)) await what.follow(snapshots, ids)
  return sums

  function isOld(id: string): boolean {
    return isOlder('dep', id, { below: 0n, at: what.toldBefore })
  }
}

/** Goes through ids, page by page. */
const inRanges = (
  kind: Kind,
  table: string,
  endOf: (db: Snapshot, after: string | null, limit: number) => Promise<string | null>,
  read: (db: Snapshot, ids: Omit<IdRange, 'pieces'>, asked?: 'all') => Promise<Omit<SourcePage, 'next'>>,
): Source => ({
  ...{ kind, table, first: [null] },
  page: async (db, [after = null], limit, asked) => {
    const end = await endOf(db, after, limit)
    const { keys, read: count, plain } = await read(db, { after, end }, asked)
    return { keys, read: count, plain, next: end === null ? null : [end] }
  },
})

/** Whether plain records of a kind need no question. */
const isPlainEnough = (kind: Kind, { isOfTwo, examination }: ToProve) => !isOfTwo && examination.needsNoQuestion(kind)

/**
 * What is as large as the ledger, by ranges of ids.
 * @param broken gets the accounts whose chains are to be followed, to say what is wrong
 */
function largeSources(
  pieces: Share,
  what: ToProve,
  broken: Set<bigint>,
): Readonly<Record<'transfers' | 'deposits' | 'histories', Source>> {
  const { endedBelow, toldBefore, sums, compared } = what
  const transfers = inRanges('transfer', 'wallet.transfer', endOfTransfers, async (db, ids, asked) => {
    const range = { ...ids, pieces }
    const page =
      asked === 'all'
        ? await nameTransfers(db, range)
        : await readTransfers(db, range, { endedBelow, isPlainEnough: isPlainEnough('transfer', what) })
    const chained = page.unlinked.length === 0 ? [] : await readChained(db, page.unlinked, endedBelow)
    for (const { id } of chained) broken.add(id)
    for (const one of [...page.entered, ...chained]) sums.add(one)
    compared(chained.reduce((sum, { entries }) => sum + Number(entries), page.linked))
    return page
  })
  const depositTable = 'payments.reconcilable_deposit'
  const deposits = inRanges('deposit', depositTable, endOfRows(depositTable, 'id'), (db, ids, asked) =>
    asked === 'all' || !isPlainEnough('deposit', what)
      ? nameDeposits(db, { ...ids, pieces })
      : readDeposits(db, { ...ids, pieces }, toldBefore),
  )
  const steps = 'payments.reconcilable_transition'
  const histories = inRanges('history', steps, endOfRows(steps, 'record_id'), (db, ids) =>
    readHistories(db, { ...ids, pieces }),
  )
  return { transfers, deposits, histories }
}

/** The deposits that some transfers credit. */
async function depositsOf(db: Snapshot, transfers: readonly string[]): Promise<readonly string[]> {
  if (transfers.length === 0) return []
  const rows = await db<{ reference: string }>`
    select reference from wallet.transfer where id = any(${transfers}::text[]) and type = 'DEPOSIT'
  `
  return rows.map(({ reference }) => reference)
}

/** By the player's newest deposit, the kept sum of a day is held against the deposits of that day. */
function depositors(share: Share): Source {
  const newest = sql`from payments.reconcilable_deposit d where d.player_id = r.player_id order by d.created_at desc, d.id desc limit 1`
  const day = sql`date_trunc('day', d.created_at at time zone d.time_zone)`
  return paged(
    {
      ...{ kind: 'deposit', table: 'payments.reconcilable_depositor', key: sql`(select d.id ${newest})` },
      ...{ order: 'player_id text', first: [null], member: 'player_id' },
      skipped: sql`r.day is null or coalesce((select (r.day, r.day_total) = (${day}::date, (
        select coalesce(sum(o.amount), 0) from payments.reconcilable_deposit o
        where o.player_id = d.player_id and o.status <> 'failed' and o.created_at >= ${day} at time zone d.time_zone
      )) ${newest}), false)`,
    },
    share,
  )
}

/** The end of each chain. */
async function allEnds(
  snapshots: Snapshots,
  { share, limit, progress, found, lookAtEnds }: ToProve,
  broken: Set<bigint>,
): Promise<void> {
  const total = await snapshots.see((db) => estimate(db, 'wallet.account'))
  let done = 0
  for await (const ids of allPlayers(snapshots, { limit, share }, (gone) => found('chains', gone))) {
    await lookAtEnds(snapshots, ids, (id) => broken.add(id))
    done += ids.length
    progress('balances', done, total)
  }
}

async function addUp(snapshots: Snapshots, sum: SystemSum, { endedBelow, progress, sums }: ToProve) {
  const { brandId, currency } = sum.account
  for (let from: bigint | null = 0n; from !== null; ) {
    const begin: bigint = from
    const page = await snapshots.see((db) => readSystemSums(db, sum.account, { from: begin, end: endedBelow }))
    sum.addPage(page)
    sums.add({ brandId, currency, amount: page.all.balance })
    progress('sums', Number(page.all.entries), 0)
    from = page.next
  }
}
