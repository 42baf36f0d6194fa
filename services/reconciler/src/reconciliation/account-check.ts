import type { ExportedHead } from '../heads/exports.ts'
import type { AccountCheckpoint } from '../storage/reconciliations.ts'
import {
  type Begun,
  type Entry,
  isWhole,
  type Present,
  readAccounts,
  readEntries,
  readPresent,
} from './account-rows.ts'
import type { FoundDifference } from './check.ts'
import { entryHash } from './hash-chain.ts'
import { isPlay } from './play-checks.ts'
import { readEach, unreadable } from './record-checks.ts'
import { type ChainPlace, type ChainsToRead, type RightChain, readRightChains } from './right-chains.ts'
import type { Snapshots } from './snapshots.ts'

/** What is verified of an account so far: the entries up to a number, their sum, and the last one as it is stored. */
interface Verified {
  readonly account: Begun
  entries: bigint
  /** The sum of the amounts. */
  total: bigint
  last: Omit<ChainPlace, 'id'>
  /** The last entry to which everything is right and of transactions that have ended. */
  sound: { readonly entries: bigint; readonly balance: bigint; readonly hash: Buffer }
  isSound: boolean
  readonly isVouchedFor: boolean
}

export interface AccountsToCheck {
  readonly ids: readonly bigint[]
  /** Begins each chain at its first entry instead of its checkpoint. */
  readonly fromZero: (id: bigint) => boolean
  /** Begins each chain with its last entry of a transaction that has ended: all links are proven elsewhere. */
  readonly fromLast?: boolean
  /** Heads that were exported before the database was restored: a chain begins with the entry that one names. */
  readonly heads?: ReadonlyMap<bigint, Pick<ExportedHead, 'seq' | 'hash'>>
  /** A checkpoint of a higher transaction was written by a run that has not ended. */
  readonly believedBelow: bigint
  readonly enteredFrom: bigint
  /** Transactions below this one have ended. */
  readonly endedBelow: bigint
}

export interface AccountsFound {
  readonly add: (check: 'balances' | 'chains' | 'checkpoints', id: bigint, found: FoundDifference) => void
  /** What was entered by transactions since `enteredFrom` that have ended, of the account's brand and currency. */
  readonly entered: (entry: { brandId: string; currency: string; amount: bigint }) => void
  /** How many entries were looked at so far. */
  readonly looked: (entries: number) => void
}

/**
 * Follows the hash chains of players: numbers without a gap, running balances, and each hash over the one before; then
 * the account's balance, number of entries and head against the end of its chain, and what is held against the open holds.
 * A long chain is followed over many snapshots. That is right, because entries are never changed: only the end must be seen
 * together with the account.
 * @returns how many accounts and entries were looked at, and how far each account is verified now
 */
export async function checkAccounts(
  snapshots: Snapshots,
  { ids, fromZero, fromLast = false, heads, believedBelow, ...below }: AccountsToCheck,
  { add, entered, looked }: AccountsFound,
  entriesMax: number,
): Promise<{ accounts: number; entries: number; vouchedFor: number; checkpoints: AccountCheckpoint[] }> {
  const { enteredFrom, endedBelow } = below
  const how = { ...below, entriesMax }
  const lost = (id: bigint, error: unknown) => add('chains', id, unreadable(`account ${id}`, error))
  const begun = await snapshots.see((db) =>
    readEach(db, ids, (some) => readAccounts(db, some, fromLast ? endedBelow : heads), lost),
  )
  const accounts = begun.map((account) => {
    const fault = checkpointFault(account, believedBelow)
    if (fault !== null) add('checkpoints', account.id, fault)
    if (account.vouchedHash !== null && account.vouchedHash === heads?.get(account.id)?.hash)
      return { ...vouchedOf(account), isVouchedFor: true }
    if (fromLast && (account.vouchedSeq === 1n || account.beforeHash !== null)) return vouchedOf(account)
    return beginOf(account, fault !== null || fromZero(account.id), believedBelow)
  })
  let entries = 0
  let waiting = accounts
  while (waiting.length > 0) {
    const batch = together(waiting, entriesMax)
    const { unread, right, rows, present } = await readBatch(snapshots, batch, { ...how, lost })
    entries += rows.length
    const byAccount = Map.groupBy(rows, ({ accountId }) => accountId)
    const unfinished: Verified[] = []
    for (const verified of batch) {
      const { account } = verified
      if (unread.has(account.id)) continue
      const chain = right.get(account.id)
      if (chain !== undefined) {
        entries += Number(chain.entries)
        take(verified, chain)
        entered({ ...account, amount: BigInt(chain.entered) })
      }
      const ofAccount = byAccount.get(account.id) ?? []
      for (const entry of ofAccount) {
        const fault = follow(verified, entry, endedBelow)
        if (fault !== null) add('chains', account.id, fault)
        if (BigInt(entry.xid) >= enteredFrom && BigInt(entry.xid) < endedBelow)
          entered({ ...account, amount: entry.amount })
      }
      // As many as were asked for: there may be more.
      const read = chain === undefined ? ofAccount.length : Number(chain.entries)
      if (read === entriesMax) unfinished.push(verified)
      else {
        const fault = endFault(verified, present.get(account.id))
        if (fault !== null) add('balances', account.id, fault)
      }
    }
    looked(entries)
    waiting = [...unfinished, ...waiting.slice(batch.length)]
  }
  return {
    accounts: accounts.length,
    entries,
    vouchedFor: accounts.filter(({ isVouchedFor }) => isVouchedFor).length,
    checkpoints: accounts
      .filter(({ account, sound }) => sound.entries > 0n || account.entries !== null)
      .map(({ account, sound }) => ({ accountId: account.id, ...sound })),
  }
}

interface BatchToRead extends ChainsToRead {
  readonly lost: (id: bigint, error: unknown) => void
}

/** In one snapshot: the chains that are right, the entries of the others, and the accounts themselves. */
async function readBatch(snapshots: Snapshots, batch: readonly Verified[], { lost, ...how }: BatchToRead) {
  const unread = new Set<bigint>()
  const notRead = ({ account: { id } }: Verified, error: unknown) => {
    unread.add(id)
    lost(id, error)
  }
  return snapshots.see(async (db) => {
    const read = (some: readonly Verified[]) => readRightChains(db, some.map(placeOf), how)
    const right = new Map((await readEach(db, batch, read, () => {})).map((chain) => [chain.id, chain]))
    const others = batch.filter(({ account }) => !right.has(account.id))
    const present = await readEach(db, batch, (some) => readPresent(db, some.map(placeOf)), notRead)
    return {
      ...{ unread, right, present: new Map(present.map((row) => [row.id, row])) },
      rows:
        others.length === 0
          ? []
          : await readEach(db, others, (some) => readEntries(db, some.map(placeOf), how.entriesMax), notRead),
    }
  })
}

/**
 * A checkpoint lies on the chain: the entry that it names has its hash and its balance, and is of a transaction that the
 * checkpoint is about. Somebody who moves a checkpoint forward, over what no run has seen, would have to move that too.
 */
function checkpointFault(account: Begun, believedBelow: bigint): FoundDifference | null {
  const { brandId, playerId, genesis, entries, balance, hash, below, entryXid } = account
  if (entries === null || below === null || BigInt(below) > believedBelow) return null
  const [entry, entryBalance] = entries === 0n ? [genesis, 0n] : [account.entryHash, account.entryBalance]
  const isOnChain =
    entry !== null &&
    hash?.equals(entry) &&
    balance === String(entryBalance) &&
    (entries === 0n || BigInt(entryXid ?? below) < BigInt(below))
  if (isOnChain) return null
  return {
    brandId,
    subject: `${playerId} entry ${entries}`,
    expected:
      entry === null ? 'no entry' : `balance ${entryBalance}, hash ${entry.toString('hex')}, transaction ${entryXid}`,
    actual: `balance ${balance}, hash ${hash?.toString('hex')}, transactions below ${below}`,
    explanation: 'A checkpoint of a player is not on the hash chain. The chain was followed from its first entry.',
  }
}

function beginOf(account: Begun, fromZero: boolean, believedBelow: bigint): Verified {
  const { entries, balance, hash, below, genesis } = account
  const isBelieved =
    !fromZero && entries !== null && balance !== null && hash !== null && BigInt(below ?? 0) <= believedBelow
  const start = isBelieved ? { entries, balance: BigInt(balance), hash } : { entries: 0n, balance: 0n, hash: genesis }
  return startingAt(account, start)
}

const startingAt = (account: Begun, start: Verified['sound']): Verified => ({
  ...{ account, isVouchedFor: false, isSound: true, sound: start },
  ...{ entries: start.entries, total: start.balance },
  last: { seq: start.entries, balance: start.balance, hash: start.hash },
})

/**
 * From the entry before on. The hash of that entry covers the balance after it and the hash before it, so where it is still
 * the exported one, or all links are proven, nobody needs the entries before to know the balance.
 */
function vouchedOf(account: Begun): Verified {
  const { vouchedSeq, beforeHash, beforeBalance, genesis } = account
  const entries = (vouchedSeq ?? 1n) - 1n
  return startingAt(account, { entries, balance: beforeBalance ?? 0n, hash: beforeHash ?? genesis })
}

/** The first accounts that together have about so many entries to read, and at least one account. */
function together(accounts: readonly Verified[], entriesMax: number): Verified[] {
  let sum = 0n
  const end = accounts.findIndex(({ account, last }, index) => {
    sum += account.seq > last.seq ? account.seq - last.seq : 1n
    return index > 0 && sum > BigInt(entriesMax)
  })
  return end < 0 ? [...accounts] : accounts.slice(0, end)
}

const placeOf = ({ account, last }: Verified): ChainPlace => ({ id: account.id, ...last })

/**
 * Takes the next entry of a chain. It is compared with the entry before it as that is stored, so one edited row is named
 * once.
 * @returns what is wrong with it
 */
function follow(verified: Verified, entry: Entry, endedBelow: bigint): FoundDifference | null {
  const fault = faultOf(verified, entry)
  verified.entries += 1n
  verified.total += entry.amount
  verified.last = entry
  verified.isSound &&= fault === null && BigInt(entry.xid) < endedBelow
  if (verified.isSound) verified.sound = { entries: entry.seq, balance: entry.balance, hash: entry.hash }
  return fault
}

function faultOf({ account, last }: Verified, entry: Entry): FoundDifference | null {
  const { brandId, playerId } = account
  const subject = `${playerId} entry ${entry.seq} (${entry.transferId})`
  const differs = (expected: string, actual: string, explanation: string) =>
    expected === actual ? null : { brandId, subject, expected, actual, explanation }
  if (!isWhole(entry)) return differs('a transfer', 'nothing', 'The transfer of an entry is gone.')
  const missing = 'Entries are missing before this one.'
  const sum = 'The balance after an entry is not the one before plus its amount (minor units).'
  const before =
    differs(`entry ${last.seq + 1n}`, `entry ${entry.seq}`, missing) ??
    differs(`${last.balance + entry.amount}`, `${entry.balance}`, sum)
  if (before !== null) return before
  if (isPlay(entry) && entry.play === null) return differs('a play', 'nothing', 'The play of an entry is gone.')
  const changed =
    'The hash does not cover what is stored: this row, its transfer, its play or the one before was changed.'
  try {
    const transfer = { ...entry, id: entry.transferId, amount: entry.transferAmount }
    const hash = entryHash(last.hash, entry, transfer, entry.play ?? undefined)
    return differs(hash.toString('hex'), entry.hash.toString('hex'), changed)
  } catch (error) {
    // A time that is none, for example.
    return unreadable(subject, error, brandId)
  }
}

function take(verified: Verified, { entries, total, balance, hash }: RightChain): void {
  verified.entries += entries
  verified.total += BigInt(total)
  verified.last = { seq: verified.last.seq + entries, balance, hash }
  if (verified.isSound) verified.sound = { entries: verified.last.seq, balance, hash }
}

/** The account against the end of its chain and its open holds. */
function endFault({ account, entries, total, last }: Verified, present: Present | undefined): FoundDifference | null {
  const expected = `posted ${total}, held ${present?.reserved ?? 0}, entries ${entries}`
  const { posted, held, seq, head } = present ?? {}
  const anotherHead = head?.equals(last.hash) ? '' : ', another head'
  const actual = present === undefined ? 'no account' : `posted ${posted}, held ${held}, entries ${seq}${anotherHead}`
  if (actual === expected) return null
  return {
    brandId: account.brandId,
    subject: account.playerId,
    expected,
    actual,
    explanation: 'The account does not agree with its entries and open holds (minor units).',
  }
}
