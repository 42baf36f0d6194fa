// Rules.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { balanceByTeamMax, type IdOf } from '@backoffice/contracts'
import { PlayBooks } from '../rounds/books.ts'
import { type Play, playDigest } from '../rounds/play.ts'
import type { Move } from '../rounds/working-plays.ts'
import type {
  ChainedEntry,
  Changes,
  Hold,
  KnownTransfer,
  LedgerEntry,
  LedgerState,
  PlayerAccount,
  Posting,
  PostingOutcome,
  SystemAccountKind,
  Transfer,
  TransferRequest,
} from './posting.ts'

/** A key that contains the brand, so that references and players of two brands are never mixed up. */
export const brandKey = (brandId: IdOf<'brand'>, name: string): string => `${brandId}\n${name}`
/** @param party the provider of games that the account is for; empty for the brand's own */
export const systemKey = (brandId: IdOf<'brand'>, kind: SystemAccountKind, currency: string, party = ''): string =>
  `${brandId}\n${kind}\n${currency}\n${party}`

/** The most that PostgreSQL's bigint holds. */
const balanceMax = 2n ** 63n - 1n

/**
 * Decides the postings of a batch in order, each on the result of those before it. A refused posting changes nothing
 * for the others. Pure: `state` is not changed.
 * @returns one outcome for each posting, in order, and what to write
 */
export function decideBatch(
  batch: readonly Posting[],
  state: LedgerState,
  now: Date,
): { readonly outcomes: readonly PostingOutcome[]; readonly changes: Changes } {
  const books = new WorkingBooks(state, now)
  const outcomes = batch.map((posting) => books.apply(posting))
  return { outcomes, changes: books.changes() }
}

type Referred = Pick<Transfer, 'brandId' | 'reference'>

class WorkingBooks {
  readonly #state: LedgerState
  readonly #now: Date
  readonly #accounts = new Map<string, PlayerAccount>()
  readonly #holds = new Map<string, Hold>()
  readonly #transfers = new Map<string, Transfer>()
  readonly #entries: LedgerEntry[] = []
  readonly #reversed = new Set<string>()
  readonly #plays: PlayBooks | undefined

  constructor(state: LedgerState, now: Date) {
    this.#state = state
    this.#now = now
    this.#plays = state.play && new PlayBooks(state.play, now)
  }

  changes(): Changes {
    return {
      transfers: [...this.#transfers.values()],
      entries: this.#entries,
      holds: [...this.#holds.values()],
      accounts: [...this.#accounts.values()],
      play: this.#plays?.changes(),
    }
  }

  apply(posting: Posting): PostingOutcome {
    const account = this.#findAccount(posting)
    if (account === undefined && posting.kind === 'play') return { outcome: 'not kept', code: 'PLAYER_NOT_FOUND' }
    assert(account !== undefined, 'the account of every posting is open and locked')
    if (posting.kind === 'refusal') return this.#refuse(account, posting)
    if (account.currency !== posting.currency)
      return fault(`account ${account.id} is in ${account.currency}, the posting in ${posting.currency}`)
    switch (posting.kind) {
      case 'credit':
      case 'debit':
        return this.#transfer(account, posting)
      case 'hold':
        return this.#hold(account, posting)
      case 'capture':
        return this.#capture(account, posting)
      case 'release':
        return this.#release(account, posting)
      case 'play':
        return this.#play(posting)
      default:
        return posting satisfies never
    }
  }

  #transfer(account: PlayerAccount, posting: Posting & TransferRequest & { kind: 'credit' | 'debit' }): PostingOutcome {
    const { amount, reverses } = posting
    assert(amount > 0n, 'an amount is over zero')
    const system = this.#systemAccount(posting, posting.counterparty, posting.party)
    const sides =
      posting.kind === 'credit'
        ? { debitAccount: system, creditAccount: account.id }
        : { debitAccount: account.id, creditAccount: system }
    const known = this.#findTransfer(posting)
    if (known !== undefined) return replay(known, { ...posting, ...sides })
    if (reverses !== undefined && this.#isReversed(reverses)) return { outcome: 'already_reversed' }
    // A deposit was refused before its payment was collected, if there might be no room for it.
    if (posting.kind === 'credit' && posting.type !== 'DEPOSIT' && account.posted + amount > balanceByTeamMax)
      return { outcome: 'balance_limit' }
    if (posting.kind === 'credit' && !hasRoom(account, amount))
      return fault(`account ${account.id} cannot hold ${amount} more`)

    const covered = posting.kind === 'credit' || account.posted - account.held >= amount
    const outcome = covered ? 'posted' : 'insufficient_funds'
    const transfer = this.#record(posting, { ...sides, amount, outcome })
    if (outcome === 'insufficient_funds') return { outcome }
    this.#post(account, transfer)
    if (reverses !== undefined) this.#plays?.noteReversal(reverses, account.seq + 1n)
    return { outcome, transferId: transfer.id, replayed: false }
  }

  /** Keeps the reference of a credit that cannot be done, so that the credit is refused when it arrives late. */
  #refuse(account: PlayerAccount, posting: Posting & { kind: 'refusal' }): PostingOutcome {
    const { amount, currency, counterparty, party } = posting
    const known = this.#findTransfer(posting)
    if (known?.outcome === 'posted') return { outcome: 'posted', transferId: known.id, replayed: true }
    if (known !== undefined) return { outcome: 'refused' }
    if (account.currency === currency && hasRoom(account, amount)) return { outcome: 'possible' }
    const debitAccount = this.#systemAccount(posting, counterparty, party)
    this.#record(posting, { debitAccount, creditAccount: account.id, amount, outcome: 'refused' })
    return { outcome: 'refused' }
  }

  #hold(account: PlayerAccount, posting: Posting & { kind: 'hold' }): PostingOutcome {
    const { brandId, reference, amount } = posting
    assert(amount > 0n, 'an amount is over zero')
    const known = this.#findHold(posting)
    if (known !== undefined) {
      const same = known.accountId === account.id && (known.amount === null || known.amount === amount)
      if (!same) return { outcome: 'conflict' }
      return known.state === 'refused' ? { outcome: 'insufficient_funds' } : { outcome: 'hold', state: known.state }
    }
    const covered = account.posted - account.held >= amount
    this.#keepHold({
      brandId,
      reference,
      accountId: account.id,
      amount,
      state: covered ? 'open' : 'refused',
      transferId: null,
      openedAt: this.#now,
      closedAt: covered ? null : this.#now,
    })
    if (!covered) return { outcome: 'insufficient_funds' }
    this.#keepAccount({ ...account, held: account.held + amount })
    return { outcome: 'hold', state: 'open' }
  }

  #capture(account: PlayerAccount, posting: Posting & { kind: 'capture' }): PostingOutcome {
    const hold = this.#findHold(posting)
    if (hold === undefined || hold.accountId !== account.id || hold.amount === null)
      return fault(`there is no hold ${posting.reference} on account ${account.id} to capture`)
    if (hold.state === 'captured' && hold.transferId !== null)
      return { outcome: 'posted', transferId: hold.transferId, replayed: true }
    if (hold.state !== 'open') return fault(`hold ${posting.reference} is ${hold.state}, not open`)
    if (this.#findTransfer(posting) !== undefined)
      return fault(`reference ${posting.reference} was used by another transfer`)

    const transfer = this.#record(
      { ...posting, type: 'WITHDRAWAL' },
      {
        debitAccount: account.id,
        creditAccount: this.#systemAccount(posting, 'withdrawals'),
        amount: hold.amount,
        outcome: 'posted',
      },
    )
    this.#post({ ...account, held: account.held - hold.amount }, transfer)
    this.#keepHold({ ...hold, state: 'captured', transferId: transfer.id, closedAt: this.#now })
    return { outcome: 'posted', transferId: transfer.id, replayed: false }
  }

  #release(account: PlayerAccount, posting: Posting & { kind: 'release' }): PostingOutcome {
    const { brandId, reference } = posting
    const hold = this.#findHold(posting)
    if (hold === undefined) {
      // The hold may still arrive. It then finds this tombstone and reserves nothing.
      const tombstone = { amount: null, state: 'released', transferId: null, openedAt: null } as const
      this.#keepHold({ brandId, reference, accountId: account.id, ...tombstone, closedAt: this.#now })
      return { outcome: 'hold', state: 'released' }
    }
    if (hold.accountId !== account.id) return fault(`hold ${reference} is not on account ${account.id}`)
    if (hold.state === 'captured') return { outcome: 'hold', state: 'captured' }
    if (hold.state === 'open' && hold.amount !== null) {
      this.#keepHold({ ...hold, state: 'released', closedAt: this.#now })
      this.#keepAccount({ ...account, held: account.held - hold.amount })
    }
    return { outcome: 'hold', state: 'released' }
  }

  #play(posting: Posting & { kind: 'play' }): PostingOutcome {
    const { brandId, play } = posting
    const account = () => {
      const found = this.#findAccount(posting)
      assert(found !== undefined, 'the account is open')
      return found
    }
    assert(this.#plays !== undefined, 'what a play needs was read')
    return this.#plays.apply(brandId, play, {
      read: account,
      isReversed: (transferId) => this.#isReversed(transferId),
      post: (move, decided) => this.#postPlay(account(), { party: play.providerId, posting, play: decided }, move),
    })
  }

  /** The reference of the transfer is the play's own id, which nobody could have used before. */
  #postPlay(
    account: PlayerAccount,
    { party, posting, play }: { readonly party: string; readonly posting: Posting; readonly play: Play },
    { house, amount, ...move }: Move,
  ): void {
    const system = this.#systemAccount(posting, house, party)
    const [debitAccount, creditAccount] = move.type === 'BET' ? [account.id, system] : [system, account.id]
    const request = { ...move, brandId: posting.brandId, reference: play.id }
    this.#post(account, this.#record(request, { debitAccount, creditAccount, amount, outcome: 'posted' }), play)
  }

  #isReversed(transferId: IdOf<'transfer'>): boolean {
    return this.#reversed.has(transferId) || this.#state.reversed.has(transferId)
  }

  #findAccount({ brandId, playerId }: Posting): PlayerAccount | undefined {
    const key = brandKey(brandId, playerId)
    return this.#accounts.get(key) ?? this.#state.accounts.get(key)
  }

  #findTransfer({ brandId, reference }: Referred): KnownTransfer | undefined {
    const key = brandKey(brandId, reference)
    return this.#transfers.get(key) ?? this.#state.transfers.get(key)
  }

  #findHold({ brandId, reference }: Referred): Hold | undefined {
    const key = brandKey(brandId, reference)
    return this.#holds.get(key) ?? this.#state.holds.get(key)
  }

  #systemAccount({ brandId, currency }: Posting, kind: SystemAccountKind, party = ''): bigint {
    const id = this.#state.systemAccounts.get(systemKey(brandId, kind, currency, party))
    assert(id !== undefined, 'the system accounts of every posting are open')
    return id
  }

  #record(
    request: Pick<TransferRequest, 'transferId' | 'reference' | 'type' | 'effectiveAt' | 'reverses' | 'reason'> & {
      readonly brandId: IdOf<'brand'>
    },
    decided: Pick<Transfer, 'debitAccount' | 'creditAccount' | 'amount' | 'outcome'>,
  ): Transfer {
    const { brandId, reference, type, effectiveAt = this.#now } = request
    const transfer: Transfer = {
      id: request.transferId,
      brandId,
      reference,
      type,
      ...decided,
      reverses: request.reverses ?? null,
      reason: request.reason ?? null,
      effectiveAt,
      createdAt: this.#now,
    }
    this.#transfers.set(brandKey(brandId, reference), transfer)
    return transfer
  }

  /** Writes both sides; `account` is the player's, as it is just before. */
  #post(account: PlayerAccount, transfer: Transfer, play?: Play): void {
    if (transfer.reverses !== null) this.#reversed.add(transfer.reverses)
    const credited = transfer.creditAccount === account.id
    const amount = credited ? transfer.amount : -transfer.amount
    const seq = account.seq + 1n
    const balance = account.posted + amount
    const hash = entryHash(account.head, { accountId: account.id, seq, amount, balance }, transfer, play)
    const system = credited ? transfer.debitAccount : transfer.creditAccount
    this.#entries.push(
      { accountId: account.id, transferId: transfer.id, amount, guarded: { seq, balance, hash } },
      { accountId: system, transferId: transfer.id, amount: -amount, guarded: null },
    )
    this.#keepAccount({ ...account, posted: balance, seq, head: hash })
  }

  #keepAccount(account: PlayerAccount): void {
    assert(account.held >= 0n && account.posted >= account.held, 'what is held is covered')
    this.#accounts.set(brandKey(account.brandId, account.playerId), account)
  }

  #keepHold(hold: Hold): void {
    this.#holds.set(brandKey(hold.brandId, hold.reference), hold)
  }
}

const fault = (message: string): PostingOutcome => ({ outcome: 'fault', message })

const hasRoom = ({ posted }: PlayerAccount, amount: bigint): boolean => posted + amount <= balanceMax

/** The outcome for a known reference: that of the first time, unless it was another transfer. */
function replay(
  known: KnownTransfer,
  asked: Pick<TransferRequest, 'type' | 'amount' | 'reverses'> & Pick<KnownTransfer, 'debitAccount' | 'creditAccount'>,
): PostingOutcome {
  const fields = ['type', 'amount', 'debitAccount', 'creditAccount'] as const
  const isSame = fields.every((field) => known[field] === asked[field])
  if (!isSame || known.reverses !== (asked.reverses ?? null)) return { outcome: 'conflict' }
  const { id: transferId, outcome } = known
  return outcome === 'posted' ? { outcome, transferId, replayed: true } : { outcome }
}

/**
 * The hash of a player's entry: it covers the hash before it and every field of the entry and its transfer, so that an
 * edited, removed or reordered row is found. The fields are written as JSON, so that two different rows cannot have the
 * same text. What a provider's play has posted is covered with all that the play says.
 */
export function entryHash(previous: Buffer, entry: ChainedEntry, transfer: Transfer, play?: Play): Buffer {
  const content = JSON.stringify([
    ...[entry.accountId, entry.seq, entry.amount, entry.balance].map(String),
    transfer.id,
    transfer.brandId,
    transfer.reference,
    transfer.type,
    String(transfer.debitAccount),
    String(transfer.creditAccount),
    String(transfer.amount),
    transfer.outcome,
    transfer.reverses,
    transfer.reason,
    transfer.effectiveAt.toISOString(),
    transfer.createdAt.toISOString(),
    ...(play === undefined ? [] : [playDigest(play)]),
  ])
  return createHash('sha256').update(previous).update(content).digest()
}
