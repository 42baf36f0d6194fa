import { brandKey, decideBatch, entryHash, systemKey } from '../../src/ledger/decide.ts'
import type {
  Changes,
  Hold,
  LedgerEntry,
  LedgerState,
  PlayerAccount,
  Posting,
  PostingOutcome,
  SystemAccountKind,
  Transfer,
} from '../../src/ledger/posting.ts'
import {
  type HeldWinRow,
  houseKinds,
  type KnownPlay,
  type Play,
  type PlayMessage,
  type PlayState,
  playKey,
  type Round,
  roundKey,
  type WinLimit,
} from '../../src/rounds/play.ts'

export const brandId = 'brd_1'
export const players = ['ply_a', 'ply_b', 'ply_c'] as const
export const providers = ['prv_1', 'prv_2'] as const
const genesis = Buffer.from('genesis')
const start = new Date('2026-03-02T12:00:00.000Z')

const empty = { currency: 'BRL', posted: 0n, held: 0n, seq: 0n, head: genesis as Buffer }

/** A ledger in memory, which keeps what `decideBatch` says. */
export class Books {
  readonly accounts: Map<string, PlayerAccount>
  readonly transfers = new Map<string, Transfer>()
  readonly holds = new Map<string, Hold>()
  readonly entries: LedgerEntry[] = []
  readonly plays: Play[] = []
  readonly rounds = new Map<string, Round>()
  readonly heldWins = new Map<string, HeldWinRow & { isReleased: boolean }>()
  readonly #systemAccounts: Map<string, bigint>
  readonly #brandId: string

  constructor(
    of: { readonly brandId: string; readonly playerIds: readonly string[] } = { brandId, playerIds: players },
  ) {
    this.#brandId = of.brandId
    this.accounts = new Map(
      of.playerIds.map((playerId, index) => [
        brandKey(of.brandId, playerId),
        { ...empty, id: BigInt(index + 10), brandId: of.brandId, playerId },
      ]),
    )
    const system = (...[kind, party, currency = 'BRL']: [SystemAccountKind, party?: string, currency?: string]) =>
      systemKey(of.brandId, kind, currency, party)
    this.#systemAccounts = new Map([
      [system('deposits'), 1n],
      [system('deposits', '', 'USD'), 4n],
      [system('withdrawals'), 2n],
      [system('adjustments'), 3n],
      ...providers.flatMap((provider, index) =>
        houseKinds.map((kind, place) => [system(kind, provider), BigInt(30 + 3 * index + place)] as const),
      ),
    ])
  }

  state() {
    const posted = [...this.transfers.values()].filter(({ outcome }) => outcome === 'posted')
    const reversed = new Set(posted.flatMap(({ reverses }) => (reverses === null ? [] : [reverses])))
    return {
      ...this,
      systemAccounts: this.#systemAccounts,
      reversed,
      play: this.#playState(reversed),
    } satisfies LedgerState
  }

  /** All that is known of plays. The service reads of it what a batch names. */
  #playState(reversed: ReadonlySet<string>): PlayState {
    const known = this.plays.map((play) => this.#known(play, reversed))
    const ofRound = (round: Round) => known.filter(({ roundId }) => roundId === round.id)
    const unopened = known.filter(({ kind, roundId }) => kind === 'bet' && roundId === null)
    return {
      plays: new Map(known.map((play) => [playKey(play), play])),
      rounds: this.rounds,
      unopened: new Map(
        unopened.map((play) => {
          const others = unopened.filter((other) => roundKey(other) === roundKey(play))
          const had = (outcome: Play['outcome']) => others.some((other) => other.outcome === outcome)
          return [roundKey(play), { isRefused: had('refused'), isVoided: had('voided') }]
        }),
      ),
      unnamedWins: new Map(
        [...this.rounds].flatMap(([key, round]) => {
          const win = ofRound(round).find((play) => isSettling(play) && play.betTransactionId === null)
          return win === undefined
            ? []
            : [[key, { transactionId: win.transactionId, amount: win.amount ?? 0n }] as const]
        }),
      ),
      contents: new Map(
        [...this.rounds].map(([key, round]) => {
          const bets = ofRound(round).filter((play) => play.kind === 'bet' && isLive(play))
          return [key, { isWon: ofRound(round).some(isSettling), bets }]
        }),
      ),
      winLimits: new Map([...this.heldWins].map(([key, held]): [string, WinLimit] => [key, { maxWin: null, held }])),
      stakes: new Map(
        known.flatMap((play) =>
          play.kind === 'bet' && play.transferId !== null ? [[play.transferId, play] as const] : [],
        ),
      ),
    }
  }

  #known(play: Play, reversed: ReadonlySet<string>): KnownPlay {
    const transferId = this.transfers.get(brandKey(play.brandId, play.id))?.id ?? null
    const names = (other: Play) =>
      other.betTransactionId === play.transactionId &&
      other.providerId === play.providerId &&
      other.outcome === 'posted'
    const isUndone =
      play.kind === 'bet' &&
      (this.plays.some((other) => other.kind === 'rollback' && names(other)) ||
        (transferId !== null && reversed.has(transferId)))
    const win = this.plays.find(
      (other) => isSettling(other) && (other.betTransactionId === null ? other.roundId === play.roundId : names(other)),
    )
    const settledBy = win === undefined ? null : { transactionId: win.transactionId, amount: win.amount ?? 0n }
    return { ...play, transferId, isUndone, settledBy: play.kind === 'bet' ? settledBy : null }
  }

  post(...batch: Posting[]): readonly PostingOutcome[] {
    const { outcomes, changes } = decideBatch(batch, this.state(), start)
    this.#keep(changes)
    return outcomes
  }

  balance(playerId: string): { posted: bigint; held: bigint } {
    const account = this.accounts.get(brandKey(this.#brandId, playerId))
    if (account === undefined) throw new Error(`no account of ${playerId}`)
    return { posted: account.posted, held: account.held }
  }

  ownerOf(accountId: bigint): string | undefined {
    return [...this.accounts.values()].find(({ id }) => id === accountId)?.playerId
  }

  #keep({ transfers, entries, holds, accounts, play }: Changes): void {
    this.plays.push(...(play?.plays ?? []))
    for (const round of play?.rounds ?? []) this.rounds.set(roundKey(round), round)
    for (const held of play?.heldWins ?? []) {
      const key = playKey({ ...held, kind: 'win' })
      if (!this.heldWins.has(key)) this.heldWins.set(key, { ...held, isReleased: false })
    }
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
    faults.push(...this.#faultsOfPlay())
    const byId = new Map([...this.transfers.values()].map((transfer) => [transfer.id, transfer]))
    const byPlay = new Map(this.plays.map((play) => [play.id, play]))
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
        if (
          !hash.equals(
            entryHash(previous.hash, { accountId, seq, amount, balance }, transfer, byPlay.get(transfer.reference)),
          )
        )
          faults.push('the chain is broken')
        previous = { hash, balance, seq }
      }
      if (!previous.hash.equals(account.head)) faults.push('the head is not the last hash')
    }
    return faults
  }

  #faultsOfPlay(): string[] {
    const faults: string[] = []
    const known = [...this.state().play.plays.values()]
    if (known.length !== this.plays.length) faults.push('a transaction has two plays')
    for (const { id, kind, outcome, amount, transferId, seq, accountId } of known) {
      const moves = outcome === 'posted' && amount !== null && amount > 0n
      if (moves !== (transferId !== null))
        faults.push(`a ${kind} that is ${outcome} has ${transferId ?? 'no transfer'}`)
      const entry = this.entries.find((one) => one.transferId === transferId && one.accountId === accountId)
      if (moves && entry?.guarded?.seq !== seq) faults.push(`the entry of ${id} has another number`)
      if (moves && entry?.amount !== (kind === 'bet' ? -amount : amount)) faults.push(`${id} moved another amount`)
    }
    for (const round of this.rounds.values()) {
      const own = known.filter(({ roundId, outcome }) => roundId === round.id && outcome === 'posted')
      const live = own.filter((play) => play.kind === 'bet' && isLive(play))
      if (live.length !== round.liveBets) faults.push('live bets are not counted')
      if (round.state === 'open' && live.length === 0) faults.push('a round without a stake is open')
      if (round.state === 'void' && live.length > 0) faults.push('a void round has a stake')
      const late = own.filter(({ kind, seq }) => kind === 'bet' && round.closedSeq !== null && seq > round.closedSeq)
      if (late.length > 0) faults.push('a bet comes behind the end of its round')
      if (own.some((play) => isSettling(play)) && round.state === 'void' && round.closedBy === 'rollback')
        if (own.some((play) => isSettling(play) && play.betTransactionId === null)) faults.push('a void round was won')
    }
    return faults
  }
}

const isLive = ({ outcome, isUndone }: KnownPlay): boolean => outcome === 'posted' && !isUndone
const isSettling = ({ kind, outcome, winKind }: Play): boolean =>
  kind === 'win' && outcome === 'posted' && winKind !== 'promotion'

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

/** What a message of a provider says unless it says something else. */
const sent = () => ({
  providerId: 'prv_1',
  bodyDigest: Buffer.alloc(32),
  requestId: 'req',
  newId: (prefix: string) => `${prefix}_${++ids}`,
})
const played = (playerId: string, play: PlayMessage): Posting => ({ ...base(playerId), kind: 'play', play })
const inRound = { providerRoundId: 'r', currency: 'BRL', detailsUrl: null, providerTime: null, maxWin: 1_000_000n }
type Own<Message extends PlayMessage['message']> = Partial<Extract<PlayMessage, { message: Message }>>

export const bet = (playerId: string, transactionId: string, amount: bigint, own: Own<'bet'> = {}): Posting =>
  played(playerId, {
    ...{ ...sent(), ...inRound, message: 'bet', transactionId, amount, sessionId: 'ses', gameId: 'reels' },
    ...{ isFree: false, endsRound: false, win: null, refusedWith: null, standing: null },
    ...own,
  })
export const spin = (playerId: string, transactionId: string, amount: bigint, win: bigint, own: Own<'bet'> = {}) =>
  bet(playerId, transactionId, amount, { win, endsRound: true, ...own })
export const win = (playerId: string, transactionId: string, amount: bigint, own: Own<'win'> = {}): Posting =>
  played(playerId, {
    ...{ ...sent(), ...inRound, message: 'win', transactionId, amount, winKind: 'win', betTransactionId: null },
    ...{ campaignId: null, endsRound: false },
    ...own,
  })
export const rollback = (
  playerId: string,
  transactionId: string,
  betTransactionId: string,
  own: Own<'rollback'> = {},
) =>
  played(playerId, {
    ...{ ...sent(), message: 'rollback', transactionId, betTransactionId, providerRoundId: 'r', reason: null },
    providerTime: null,
    ...own,
  })
export const close = (playerId: string, own: Own<'close'> = {}): Posting =>
  played(playerId, { message: 'close', providerId: 'prv_1', providerRoundId: 'r', detailsUrl: null, ...own })
export const end = (playerId: string, state: 'closed' | 'void', own: Own<'end'> = {}): Posting =>
  played(playerId, { ...sent(), message: 'end', providerRoundId: 'r', state, reason: 'because', ...own })
