import { type Input, operations, Rejection, toMinorUnits } from '@backoffice/contracts'
import {
  Batcher,
  batchFaultOf,
  type Database,
  type Db,
  handle,
  type ReadDb,
  type Transaction,
} from '@backoffice/service-runtime'
import { houseOf } from '../rounds/play.ts'
import { countOpenRounds } from '../rounds/records.ts'
import { brandKey, decideBatch } from './decide.ts'
import { type AccountTarget, type Posting, type PostingOutcome, type TransferRequest, unexpected } from './posting.ts'
import {
  type Balance,
  balanceOf,
  findBalances,
  lockAccounts,
  openAccounts,
  openPlayerAccounts,
  playerOf,
  readKnown,
  type Sides,
  writeChanges,
} from './records.ts'

const batchMax = 200
const queueMax = 5_000
/**
 * How many batches run at once: while one waits for its commit, another is decided. The locks of accounts that they
 * share keep them apart.
 */
const concurrencyDefault = 2
/** Two small batches cost twice as much as one. */
const besideFrom = 8

/** Work that belongs to the transaction of a posting, such as the team's audit entry. `now`: when it was posted. */
export type InTransaction = (db: Db, outcome: PostingOutcome, now: Date) => Promise<void>

interface WaitingPosting {
  readonly posting: Posting
  readonly inTransaction: InTransaction | undefined
}

/** The only way to a balance: gathers what is posted together, decides it, and writes it in one transaction. */
export class Ledger {
  readonly #db: Database
  readonly #postings: Batcher<WaitingPosting, PostingOutcome>
  readonly #openings: Batcher<AccountTarget, undefined>

  /** @param concurrency with one batch at a time postings are decided in the order in which they came */
  constructor({ db, concurrency = concurrencyDefault }: { readonly db: Database; readonly concurrency?: number }) {
    this.#db = db
    // If a batch cannot be written because of one posting's data or account, its postings run alone, so that the others
    // succeed.
    this.#postings = new Batcher({
      run: (batch, { lockTimeoutMs, alone }) => this.#apply(batch, { lockTimeoutMs, alone }),
      batchMax,
      queueMax,
      concurrency,
      besideFrom,
      ownerOf: ({ posting }) => posting.brandId,
      // A batch may hold many postings of one account. Once an account is locked out, its postings run alone, so that
      // none of them holds up a batch.
      faultKeys: ({ posting: { brandId, playerId } }) => [brandKey(brandId, playerId)],
      faultOf: batchFaultOf,
    })
    this.#openings = new Batcher({
      run: async (targets) => {
        await openPlayerAccounts(db, targets)
        return targets.map(() => undefined)
      },
      batchMax,
      queueMax,
      faultOf: batchFaultOf,
    })
  }

  /**
   * Posts together with whatever arrives at the same time. If another batch has just used the reference for another
   * account, the unique index makes the batch fail; it runs again and then finds the reference.
   * @param inTransaction runs in the transaction of the posting
   * @throws {Rejection} SERVICE_UNAVAILABLE when too much is waiting
   */
  post(posting: Posting, inTransaction?: InTransaction): Promise<PostingOutcome> {
    return this.#postings.add({ posting, inTransaction })
  }

  /** @throws {Rejection} SERVICE_UNAVAILABLE when too much is waiting */
  openAccount(target: AccountTarget): Promise<void> {
    return this.#openings.add(target)
  }

  async #apply(
    batch: readonly WaitingPosting[],
    waiting: { readonly lockTimeoutMs: number; readonly alone: boolean },
  ): Promise<PostingOutcome[]> {
    const postings = batch.map(({ posting }) => posting)
    const sides = sidesOf(postings)
    for (;;) {
      const outcomes = await this.#db.transaction((db) => this.#applyOnce(db, batch, { postings, sides }), {
        ...waiting,
        readsFirst: true,
      })
      if (outcomes !== 'accounts missing') return outcomes
      // Outside of that transaction, so that all are locked at once there and in one order.
      await openAccounts(this.#db, sides)
    }
  }

  async #applyOnce(
    db: Transaction,
    batch: readonly WaitingPosting[],
    { postings, sides }: { readonly postings: readonly Posting[]; readonly sides: readonly Sides[] },
  ): Promise<PostingOutcome[] | 'accounts missing'> {
    // Both are sent at once and run in this order, so what is read was committed while waiting for the locks.
    const [locked, known] = await Promise.all([lockAccounts(db, sides), readKnown(db, postings)])
    if (locked === undefined) return 'accounts missing'
    const { now, ...accounts } = locked
    const { outcomes, changes } = decideBatch(postings, { ...accounts, ...known }, now)
    const hooks = batch.flatMap(({ inTransaction }, index) =>
      inTransaction === undefined ? [] : [() => inTransaction(db, outcomes[index] as PostingOutcome, now)],
    )
    const written = writeChanges(changes, now)
    if (hooks.length === 0) await db.commitWith(() => db.write(written))
    // All goes over one connection, and the changes are the first statement: what is read in the transaction has them.
    else await Promise.all([db.write(written), ...hooks.map((run) => run())])
    return [...outcomes]
  }
}

function counterpartyOf(posting: Posting): Pick<Sides, 'kind' | 'party'> {
  switch (posting.kind) {
    case 'credit':
    case 'debit':
    case 'refusal':
      return { kind: posting.counterparty, party: posting.party ?? '' }
    case 'capture':
      return { kind: 'withdrawals', party: '' }
    case 'play':
      return { kind: houseOf(posting.play), party: posting.play.providerId }
    case 'hold':
    case 'release':
      return { kind: null, party: '' }
    default:
      return posting satisfies never
  }
}

/** The accounts of a batch, each pair once. A provider of games names players, and opens no account of any. */
const sidesOf = (postings: readonly Posting[]): Sides[] => [
  ...new Map(
    postings.map((posting) => {
      const { brandId, playerId, currency } = posting
      const { kind, party } = counterpartyOf(posting)
      const opensPlayer = posting.kind !== 'play'
      const key = `${brandKey(brandId, playerId)}\n${kind}\n${currency}\n${party}\n${opensPlayer}`
      return [key, { brandId, playerId, currency, kind, party, opensPlayer }]
    }),
  ).values(),
]

/** The transfer of a deposit. A credit and its refusal must name the same one. */
function depositTransfer(
  { playerId, depositId, amount, effectiveAt }: Input<typeof operations.wallet.creditAccount>,
  given: Pick<AccountTarget, 'brandId' | 'currency'> & Pick<TransferRequest, 'transferId'>,
): AccountTarget & TransferRequest {
  return {
    ...given,
    playerId,
    reference: depositId,
    type: 'DEPOSIT',
    counterparty: 'deposits',
    amount: toMinorUnits(amount),
    effectiveAt: new Date(effectiveAt),
  }
}

export const openAccount = (ledger: Ledger) =>
  handle(operations.wallet.openAccount, async ({ input: { playerId }, scope: { brandId, currency } }) => {
    await ledger.openAccount({ brandId, playerId, currency })
    return { playerId }
  })

export const creditAccount = (ledger: Ledger) =>
  handle(operations.wallet.creditAccount, async ({ input, scope: { brandId, currency } }, { newId }) => {
    const transfer = depositTransfer(input, { brandId, currency, transferId: newId('trf') })
    const result = await ledger.post({ kind: 'credit', ...transfer })
    if (result.outcome !== 'posted') throw unexpected(result, `the credit of ${input.depositId}`)
    return { transferId: result.transferId }
  })

export const refuseCredit = (ledger: Ledger) =>
  handle(operations.wallet.refuseCredit, async ({ input, scope: { brandId, currency } }, { newId }) => {
    const transfer = depositTransfer(input, { brandId, currency, transferId: newId('trf') })
    const result = await ledger.post({ kind: 'refusal', ...transfer, reason: input.reason })
    switch (result.outcome) {
      case 'refused':
      case 'posted':
      case 'possible':
        return { state: result.outcome }
      default:
        throw unexpected(result, `the refusal of the credit of ${input.depositId}`)
    }
  })

export const openHold = (ledger: Ledger) =>
  handle(operations.wallet.openHold, async ({ input, scope: { brandId, currency } }) => {
    const { playerId, withdrawalId: reference } = input
    const amount = toMinorUnits(input.amount)
    const result = await ledger.post({ kind: 'hold', brandId, playerId, currency, reference, amount })
    if (result.outcome === 'insufficient_funds') throw new Rejection('INSUFFICIENT_FUNDS')
    if (result.outcome !== 'hold') throw unexpected(result, `the hold for ${reference}`)
    return { state: result.state }
  })

export const captureHold = (ledger: Ledger) =>
  handle(operations.wallet.captureHold, async ({ input, scope: { brandId, currency } }, { newId }) => {
    const { playerId, withdrawalId: reference } = input
    const result = await ledger.post({
      kind: 'capture',
      brandId,
      playerId,
      currency,
      reference,
      transferId: newId('trf'),
      effectiveAt: new Date(input.effectiveAt),
    })
    if (result.outcome !== 'posted') throw unexpected(result, `the capture for ${reference}`)
    return { transferId: result.transferId }
  })

export const releaseHold = (ledger: Ledger) =>
  handle(operations.wallet.releaseHold, async ({ input, scope: { brandId, currency } }) => {
    const { playerId, withdrawalId: reference } = input
    const result = await ledger.post({ kind: 'release', brandId, playerId, currency, reference })
    if (result.outcome !== 'hold') throw unexpected(result, `the release for ${reference}`)
    return { state: result.state }
  })

/** Reads the accounts of players, and shows each as the operation does. */
const accountsAs =
  <Shown>(show: (account: Balance) => Shown) =>
  async (calls: readonly Parameters<typeof playerOf>[0][], { db }: { readonly db: ReadDb }) =>
    (await findBalances(db, calls.map(playerOf))).map((account) =>
      account === undefined ? new Rejection('PLAYER_NOT_FOUND') : show(account),
    )

const shownAccount = (account: Balance) => ({ ...balanceOf(account), updatedAt: account.updatedAt.toISOString() })

export const getWallet = handle(operations.wallet.getWallet, {
  read: accountsAs((account) => {
    const { playerId, currency } = account
    return { playerId, currency, ...shownAccount(account) }
  }),
})

export const readAccount = handle(operations.wallet.readAccount, {
  async read(calls, { db }) {
    const [accounts, open] = await Promise.all([
      accountsAs(shownAccount)(calls, { db }),
      countOpenRounds(db, calls.map(playerOf)),
    ])
    return accounts.map((account, index) =>
      account instanceof Rejection ? account : { ...account, openRounds: open[index] ?? 0 },
    )
  },
})

export const readBalance = handle(operations.wallet.readBalance, { read: accountsAs(balanceOf) })
