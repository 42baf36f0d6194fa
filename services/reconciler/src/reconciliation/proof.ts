import { sql } from '@backoffice/service-runtime'
import type { BegunRun } from './begin.ts'
import type { Chains, Links } from './chains.ts'
import type { FoundDifference, Kind } from './check.ts'
import type { Findings } from './findings.ts'
import { eventsKeptSeconds } from './history-checks.ts'
import { namePlays, nameRounds, readPlays, readRounds } from './plain-plays.ts'
import {
  type DepositPage,
  nameDeposits,
  nameTransfers,
  readChained,
  readDeposits,
  readTransfers,
  type TransferPage,
} from './plain-records.ts'
import { isOfPlay } from './play-checks.ts'
import { allPlayers } from './players-checks.ts'
import { type IdColumn, type IdRange, nextRange, type Plain, type Share, Turns } from './ranges.ts'
import { isFaultOfData, type RecordChecks } from './record-checks.ts'
import type { Snapshot, Snapshots } from './snapshots.ts'
import { estimate, inOrder, isOlder, paged, pagesOf, type Source, sourcesOf } from './sources.ts'
import { CurrencySums, readSystemSums, type SystemAccount, SystemSum } from './system-check.ts'

/** So many pages of questions are one page of a proof: nearly all of it is plain. */
const pagesOfProof = 5

/** What goes through records page by page. */
export interface Through {
  readonly snapshots: Snapshots
  readonly checks: RecordChecks
  /** How many records one snapshot looks at. */
  readonly limit: number
  readonly progress: (check: string, done: number, total: number) => void
}

/** Looks at one page. Where a value makes its reading fail, its records are named, and each is asked about. */
async function lookAt<P extends Plain>(
  kind: Kind,
  [read, name]: readonly [read: (db: Snapshot) => Promise<P>, name: (db: Snapshot) => Promise<P>],
  { snapshots, checks }: Pick<Through, 'snapshots' | 'checks'>,
  also: (db: Snapshot, page: P) => Promise<void> = async () => {},
): Promise<P> {
  const page = await snapshots.see(async (db) => {
    const page = await read(db).catch(async (error) => {
      if (!isFaultOfData(error)) throw error
      await db.rewind()
      return name(db)
    })
    await checks.examine(db, kind, page.keys)
    await also(db, page)
    return page
  })
  checks.comparedPlain(kind, page)
  return page
}

/** Page after page of one source, each in a snapshot of its own. */
export async function goThrough(
  { kind, table, first, page: readPage }: Source,
  through: Through,
  also?: (db: Snapshot, page: Plain) => Promise<void>,
): Promise<void> {
  const { snapshots, limit, progress } = through
  const total = await snapshots.see((db) => estimate(db, table))
  let done = 0
  for (let after = first; ; ) {
    const begin = after
    const reading = (asked?: 'all') => (db: Snapshot) => readPage(db, begin, limit, asked)
    const page = await lookAt(kind, [reading(), reading('all')], through, also)
    done += page.read
    progress(kind, done, total)
    if (page.next === null) return
    after = page.next
  }
}

/** A run that asks all of what it looks at, whatever runs before have verified. */
export interface AskingAnew extends BegunRun, Pick<Through, 'limit' | 'progress'> {
  readonly chains: Chains
  readonly findings: Findings
}

interface ToProve extends AskingAnew {
  readonly share: Share
}

interface Proving extends ToProve {
  /** Confirmations from before this moment are plain, whatever operators were told of them. */
  readonly toldBefore: Date
  readonly sums: CurrencySums
}

/**
 * Looks at all that was ever entered, or at some pieces of it, and believes nothing that a run before has verified. What
 * there is to do is divided among some connections: each takes the next part, what is large they share at the end, and
 * PostgreSQL does the work.
 * @returns the sums of the system accounts, from their first entries on
 */
export async function prove(connections: readonly Snapshots[], run: ToProve): Promise<readonly SystemSum[]> {
  const { share, since, at, systemAccounts, endedBelow, checks, limit, chains } = run
  const what = {
    ...run,
    // No event of what was confirmed before need be kept.
    toldBefore: new Date(at.getTime() - eventsKeptSeconds * 1_000),
    // Of some accounts alone nothing sums to zero.
    sums: since === null ? chains.sums : new CurrencySums(),
  }
  const sums = systemAccounts.map((account) => new SystemSum(account, null))
  const broken = new Set<bigint>()
  // A part writes no checkpoint, so it need not know.
  const unended = new Set<bigint>()
  if (share === null)
    for (const id of await (connections[0] as Snapshots).see((db) => readUnended(db, systemAccounts, endedBelow)))
      unended.add(id)
  const through = (source: Source, also?: Parameters<typeof goThrough>[2]) => (snapshots: Snapshots) =>
    goThrough(source, { ...what, snapshots, limit: limit * pagesOfProof }, also)
  const examineDeposits = (db: Snapshot, ids: readonly string[]) => checks.examine(db, 'deposit', ids)
  await divided(connections, [
    ...sums.map((sum) => (snapshots: Snapshots) => addUp(snapshots, sum, what)),
    ...(what.isOfTwo ? [] : [through(depositors(share))]),
    ...sourcesOf(null, endedBelow, share).map((source) =>
      // Of an old confirmation nobody need be told. What is told all the same must be right.
      through(source, source.kind === 'event' ? (db, { keys }) => examineDeposits(db, keys.filter(isOld)) : undefined),
    ),
    ...largeSources(what, broken).flatMap((large) => connections.map(() => large)),
  ])
  // Now it is known which links are right. Those of a part's accounts lie in other parts, too.
  const isProven = (id: bigint) => share === null && !broken.has(id) && !unended.has(id)
  const ends = allEnds(what, { isProven, broken: (id) => broken.add(id) })
  await divided(
    connections,
    connections.map(() => ends),
  )
  const explain = (ids: readonly bigint[]) => (snapshots: Snapshots) => chains.explain(snapshots, ids, run)
  await divided(connections, [...pagesOf([...broken].sort(inOrder), limit)].map(explain))
  return sums

  function isOld(id: string): boolean {
    return isOlder('dep', id, { below: 0n, at: what.toldBefore })
  }
}

/** Each connection takes the next part, until all are done. */
export async function divided(
  connections: readonly Snapshots[],
  parts: readonly ((snapshots: Snapshots) => Promise<void>)[],
): Promise<void> {
  const left = parts.values()
  const work = async (snapshots: Snapshots) => {
    for (const part of left) await part(snapshots)
  }
  await Promise.all(connections.map(work))
}

/**
 * Accounts with entries of transactions that may not have ended. Such a one may stand before an entry of a transaction with a
 * lower number, which then is not the end of what a checkpoint may stand for.
 */
async function readUnended(
  db: Snapshot,
  systemAccounts: readonly SystemAccount[],
  endedBelow: bigint,
): Promise<ReadonlySet<bigint>> {
  const rows = await db<{ accountId: bigint }>`
    select distinct e.account_id from wallet.entry s join wallet.entry e on e.transfer_id = s.transfer_id and e.seq is not null
    where s.account_id = any(${systemAccounts.map(({ id }) => id)}::bigint[]) and s.seq is null
      and s.xid >= ${String(endedBelow)}::text::xid8
  `
  return new Set(rows.map(({ accountId }) => accountId))
}

const isPlainEnough = (kind: Kind, { isOfTwo, checks }: Proving) => !isOfTwo && checks.needsNoQuestion(kind)

interface InRanges<P extends Plain> {
  readonly kind: Kind
  readonly columns: readonly [IdColumn, ...IdColumn[]]
  readonly read: (db: Snapshot, range: IdRange) => Promise<P>
  /** Where all is to be asked. It takes no value for another type than it has, so no value makes it fail. */
  readonly name: (db: Snapshot, range: IdRange) => Promise<P>
  readonly also?: ((db: Snapshot, page: P) => Promise<void>) | undefined
}

/** Goes through a large source by ranges of ids, which connections take in turn. */
function inRanges<P extends Plain>(
  { kind, columns, read, name, also }: InRanges<P>,
  { share, checks, limit, progress }: Proving,
): (snapshots: Snapshots) => Promise<void> {
  const turns = new Turns<string>()
  const size = { limit: limit * pagesOfProof, share }
  let done = 0
  return async (snapshots) => {
    const total = await snapshots.see((db) => estimate(db, columns[0][0]))
    const next = async (after: string | null) => {
      const part = await snapshots.see((db) => nextRange(db, columns, { ...size, after }))
      return part === null ? null : { part, next: part.end }
    }
    for (let range = await turns.take(next); range !== null; range = await turns.take(next)) {
      const ids = range
      const named = (db: Snapshot) => name(db, ids)
      done += (await lookAt(kind, [(db) => read(db, ids), named], { snapshots, checks }, also)).read
      progress(kind, done, total)
    }
  }
}

/**
 * What is as large as the ledger.
 * @param broken gets the accounts whose chains are to be followed, to say what is wrong
 */
function largeSources(what: Proving, broken: Set<bigint>): readonly ((snapshots: Snapshots) => Promise<void>)[] {
  const { endedBelow, toldBefore, checks, sums, findings } = what
  const transfers: InRanges<TransferPage> = {
    kind: 'transfer',
    columns: [
      ['wallet.transfer', 'id', 1],
      ['wallet.entry', 'transfer_id', 2],
    ],
    read: (db, range) => readTransfers(db, range, { endedBelow, isPlainEnough: isPlainEnough('transfer', what) }),
    name: nameTransfers,
    also: async (db, { keys, linked, entered, unlinked }) => {
      const chained = unlinked.length === 0 ? [] : await readChained(db, unlinked, endedBelow)
      for (const { id } of chained) broken.add(id)
      for (const one of [...entered, ...chained]) sums.add(one)
      findings.compared(
        'chains',
        chained.reduce((sum, { entries }) => sum + Number(entries), linked),
      )
      // What its transfer is, a plain deposit or play leaves to the transfer.
      if (isPlainEnough('deposit', what)) await checks.examine(db, 'deposit', await causesOf(db, keys, 'dep'))
      if (isPlainEnough('play', what)) await checks.examine(db, 'play', await causesOf(db, keys, 'pla'))
    },
  }
  const deposits: InRanges<DepositPage> = {
    kind: 'deposit',
    columns: [
      ['payments.reconcilable_deposit', 'id', 1],
      ['payments.reconcilable_transition', 'record_id', 2],
    ],
    read: (db, range) =>
      isPlainEnough('deposit', what) ? readDeposits(db, range, toldBefore) : nameDeposits(db, range),
    name: nameDeposits,
    also: (db, { gone }) => checks.examine(db, 'history', gone),
  }
  const plays: InRanges<Plain> = {
    ...{ kind: 'play', columns: [['wallet.play', 'id', 1]], name: namePlays },
    read: (db, range) => (isPlainEnough('play', what) ? readPlays(db, range, what.leastMaxWin) : namePlays(db, range)),
  }
  const rounds: InRanges<Plain> = {
    ...{ kind: 'round', columns: [['wallet.round', 'id', 1]], name: nameRounds },
    read: isPlainEnough('round', what) ? readRounds : nameRounds,
  }
  return [inRanges(transfers, what), inRanges(deposits, what), inRanges(plays, what), inRanges(rounds, what)]
}

/** The deposits or plays that some transfers are of. */
async function causesOf(db: Snapshot, transfers: readonly string[], of: 'dep' | 'pla'): Promise<readonly string[]> {
  if (transfers.length === 0) return []
  const rows = await db<{ reference: string }>`
    select reference from wallet.transfer t
    where id = any(${transfers}::text[]) and ${of === 'dep' ? sql`type = 'DEPOSIT'` : isOfPlay}
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

/** The end of each chain, page by page, which connections take in turn. */
function allEnds(run: Proving, links: Links): (snapshots: Snapshots) => Promise<void> {
  const { share, limit, progress, findings, chains } = run
  const turns = new Turns<bigint>()
  let done = 0
  return async (snapshots) => {
    const total = await snapshots.see((db) => estimate(db, 'wallet.account'))
    const isGone = (gone: FoundDifference) => findings.add('chains', gone, 'full run')
    for await (const ids of allPlayers(snapshots, { limit, share, turns }, isGone)) {
      await chains.lookAtEnds(snapshots, ids, run, links)
      done += ids.length
      progress('balances', done, total)
    }
  }
}

async function addUp(snapshots: Snapshots, sum: SystemSum, { endedBelow, progress, sums }: Proving) {
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
