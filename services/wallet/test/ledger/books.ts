import { brandKey, type Changes, decideBatch, entryHash, type LedgerState, systemKey } from '../../src/ledger/decide.ts'
import type { Hold, LedgerEntry, PlayerAccount, Posting, PostingOutcome, Transfer } from '../../src/ledger/posting.ts'

export const brandId = 'brd_1'
export const players = ['ply_a', 'ply_b', 'ply_c'] as const
const genesis = Buffer.from('genesis')
const start = new Date('2026-03-02T12:00:00.000Z')

/** A ledger in memory, which keeps what `decideBatch` says. */
export class Books {
  readonly accounts = new Map<string, PlayerAccount>(
    players.map((playerId, index) => [
      brandKey(brandId, playerId),
      { id: BigInt(index + 10), brandId, playerId, currency: 'BRL', posted: 0n, held: 0n, seq: 0n, head: genesis },
    ]),
  )
  readonly transfers = new Map<string, Transfer>()
  readonly holds = new Map<string, Hold>()
  readonly entries: LedgerEntry[] = []
  readonly #systemAccounts = new Map([
    [systemKey(brandId, 'deposits', 'BRL'), 1n],
    [systemKey(brandId, 'deposits', 'USD'), 4n],
    [systemKey(brandId, 'withdrawals', 'BRL'), 2n],
    [systemKey(brandId, 'adjustments', 'BRL'), 3n],
  ])

  state(): LedgerState {
    const posted = [...this.transfers.values()].filter(({ outcome }) => outcome === 'posted')
    const reversed = new Set(posted.flatMap(({ reverses }) => (reverses === null ? [] : [reverses])))
    return { ...this, systemAccounts: this.#systemAccounts, reversed }
  }

  post(...batch: Posting[]): readonly PostingOutcome[] {
    const { outcomes, changes } = decideBatch(batch, this.state(), start)
    this.#keep(changes)
    return outcomes
  }

  balance(playerId: string): { posted: bigint; held: bigint } {
    const account = this.accounts.get(brandKey(brandId, playerId))
    if (account === undefined) throw new Error(`no account of ${playerId}`)
    return { posted: account.posted, held: account.held }
  }

  #keep({ transfers, entries, holds, accounts }: Changes): void {
    for (const transfer of transfers) this.transfers.set(brandKey(transfer.brandId, transfer.reference), transfer)
    for (const hold of holds) this.holds.set(brandKey(hold.brandId, hold.reference), hold)
    for (const account of accounts) this.accounts.set(brandKey(account.brandId, account.playerId), account)
    this.entries.push(...entries)
  }

  /** @returns what is wrong with the books; nothing in sound ones */
  faults(): string[] {
    const faults: string[] = []
    if (this.entries.reduce((sum, { amount }) => sum + amount, 0n) !== 0n) faults.push('entries do not sum to zero')
    if ([...this.holds.values()].some(({ state, closedAt }) => (state === 'open') !== (closedAt === null)))
      faults.push('a hold is open and has an end, or is closed and has none')
    const byId = new Map([...this.transfers.values()].map((transfer) => [transfer.id, transfer]))
    for (const account of this.accounts.values()) {
      const own = this.entries.filter(({ accountId }) => accountId === account.id)
      const open = [...this.holds.values()].filter(
        ({ accountId, state }) => accountId === account.id && state === 'open',
      )
      if (own.reduce((sum, { amount }) => sum + amount, 0n) !== account.posted) faults.push('posted is not the entries')
      if (open.reduce((sum, { amount }) => sum + (amount ?? 0n), 0n) !== account.held)
        faults.push('held is not the holds')
      if (account.held < 0n || account.held > account.posted) faults.push('what is held is not covered')
      if (BigInt(own.length) !== account.seq) faults.push('the entries are not counted')
      let previous = { hash: genesis as Buffer, balance: 0n, seq: 0n }
      for (const entry of own) {
        const transfer = byId.get(entry.transferId)
        if (entry.guarded === null || transfer === undefined) return [...faults, 'an entry has no order or no transfer']
        const { seq, balance, hash } = entry.guarded
        const { accountId, amount } = entry
        if (seq !== previous.seq + 1n || balance !== previous.balance + amount) faults.push('the entries have a gap')
        if (!hash.equals(entryHash(previous.hash, { accountId, seq, amount, balance }, transfer)))
          faults.push('the chain is broken')
        previous = { hash, balance, seq }
      }
      if (!previous.hash.equals(account.head)) faults.push('the head is not the last hash')
    }
    return faults
  }
}

let ids = 0
const base = (playerId: string) => ({ brandId, playerId, currency: 'BRL' })

/** Shorthands for postings. */
export const credit = (playerId: string, reference: string, amount: bigint): Posting => ({
  ...base(playerId),
  kind: 'credit',
  transferId: `trf_${++ids}`,
  reference,
  type: 'DEPOSIT',
  counterparty: 'deposits',
  amount,
  effectiveAt: start,
})
export const refusal = (playerId: string, reference: string, amount: bigint): Posting => ({
  ...(credit(playerId, reference, amount) as Posting & { kind: 'credit' }),
  kind: 'refusal',
  reason: 'because',
})
export const debit = (playerId: string, reference: string, amount: bigint): Posting => ({
  ...base(playerId),
  kind: 'debit',
  transferId: `trf_${++ids}`,
  reference,
  type: 'ADJUSTMENT',
  counterparty: 'adjustments',
  amount,
  effectiveAt: start,
  reason: 'because',
})
export const adjustment = (playerId: string, reference: string, amount: bigint): Posting => ({
  ...(credit(playerId, reference, amount) as Posting & { kind: 'credit' }),
  type: 'ADJUSTMENT',
  counterparty: 'adjustments',
  reason: 'because',
})
export const reversal = (playerId: string, reference: string, amount: bigint, reverses: string): Posting => ({
  ...base(playerId),
  kind: 'debit',
  transferId: `trf_${++ids}`,
  reference,
  type: 'REVERSAL',
  counterparty: 'deposits',
  amount,
  effectiveAt: start,
  reverses,
})
export const hold = (playerId: string, reference: string, amount: bigint): Posting => ({
  ...base(playerId),
  kind: 'hold',
  reference,
  amount,
})
export const capture = (playerId: string, reference: string): Posting => ({
  ...base(playerId),
  kind: 'capture',
  reference,
  transferId: `trf_${++ids}`,
  effectiveAt: start,
})
export const release = (playerId: string, reference: string): Posting => ({
  ...base(playerId),
  kind: 'release',
  reference,
})
