import { piecesInAll } from '../storage/proofs.ts'
import type { FoundDifference, Kind } from './check.ts'
import { type Examination, isFaultOfData } from './examination.ts'
import { allPlayers } from './players-checks.ts'
import type { Snapshots } from './snapshots.ts'
import { estimate, isOlder, type Share, type Source, sourcesOf } from './sources.ts'
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
      const keys = page.rows.filter(({ skipped }) => !skipped).map(({ key }) => key)
      await examination.examine(db, source.kind, keys)
      await also(db, keys)
      return page
    })
    examination.comparedPlain(source.kind, page.plain)
    done += page.read
    progress(source.kind, done, total)
    const last = page.rows.at(-1)
    if (last === undefined || page.read < limit) return
    after = last.place
  }
}

interface ToProve {
  readonly share: Share
  readonly systemAccounts: readonly SystemAccount[]
  readonly endedBelow: bigint
  /** Confirmations from before this moment are plain, whatever operators were told of them. */
  readonly toldBefore: Date
  readonly examination: Examination
  readonly limit: number
  readonly progress: Through['progress']
  readonly sums: CurrencySums
  readonly found: (check: 'chains', found: FoundDifference) => void
  /** Follows chains from their first entries. */
  readonly followChains: (snapshots: Snapshots, ids: readonly bigint[]) => Promise<number>
}

/** What is as large as the ledger. So are the chains. */
const isLarge = ({ kind }: Source) => kind === 'transfer' || kind === 'deposit' || kind === 'history'

/** For more connections than two the large parts are divided: each reads the keys of all, and looks at its own. */
function divided(share: Share, connections: number): readonly Share[] {
  if (connections <= 2) return [share]
  const pieces = share.pieces ?? Array.from({ length: piecesInAll }, (_, piece) => piece)
  return Array.from({ length: connections }, (_, place) => ({
    ...share,
    pieces: pieces.filter((_, index) => index % connections === place),
  }))
}

/**
 * Looks at all that was ever entered, or at some pieces of it, and believes nothing that a run before has verified. What
 * there is to do is divided among some connections: each takes the next part, and PostgreSQL does the work.
 * @returns the sums of the system accounts, from their first entries on
 */
export async function prove(connections: readonly Snapshots[], what: ToProve): Promise<readonly SystemSum[]> {
  const { share, systemAccounts, endedBelow, examination } = what
  const sums = systemAccounts.map((account) => new SystemSum(account, null))
  const shares = divided(share, connections.length)
  const sources = [
    ...shares.flatMap((one) => sourcesOf(null, endedBelow, one).filter(isLarge)),
    ...sourcesOf(null, endedBelow, share).filter((source) => !isLarge(source)),
  ]
  const parts = [
    ...shares.map((one) => (snapshots: Snapshots) => followAll(snapshots, { ...what, share: one })),
    ...sources.map((source) => (snapshots: Snapshots) => {
      const through = { ...what, snapshots, limit: what.limit * pagesOfProof }
      return goThrough(source, through, source.kind === 'event' ? (db, ids) => lookAtOlder(db, ids, what) : undefined)
    }),
    ...sums.map((sum) => (snapshots: Snapshots) => addUp(snapshots, sum, what)),
  ].values()
  const work = async (snapshots: Snapshots) => {
    for (const part of parts) await part(snapshots)
  }
  await Promise.all(connections.map(work))
  return sums

  /** Of an old confirmation nobody need be told. What is told all the same must be right. */
  function lookAtOlder(db: Parameters<Examination['examine']>[0], ids: readonly string[], { toldBefore: at }: ToProve) {
    const kind: Kind = 'deposit'
    const older = ids.filter((id) => isOlder('dep', id, { below: 0n, at }))
    return examination.examine(db, kind, older)
  }
}

async function followAll(
  snapshots: Snapshots,
  { share, limit, progress, found, followChains }: ToProve,
): Promise<void> {
  const total = await snapshots.see((db) => estimate(db, 'wallet.entry'))
  let done = 0
  const pages = allPlayers(snapshots, { limit, share }, (gone) => found('chains', gone))
  for await (const ids of pages) {
    done += await followChains(snapshots, ids)
    progress('chains', done, total)
  }
}

async function addUp(snapshots: Snapshots, sum: SystemSum, { endedBelow, examination, progress, sums }: ToProve) {
  const { brandId, currency } = sum.account
  for (let from: bigint | null = 0n; from !== null; ) {
    const begin: bigint = from
    const page = await snapshots.see(async (db) => {
      const page = await readSystemSums(db, sum.account, { from: begin, end: endedBelow })
      await examination.examine(db, 'transfer', page.orphans)
      return page
    })
    sum.addPage(page)
    sums.add({ brandId, currency, amount: page.all.balance })
    progress('sums', Number(page.all.entries), 0)
    from = page.next
  }
}
