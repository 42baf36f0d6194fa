import { batchFaultOf, type Clock, type Database, type Db, Gatherer } from '@backoffice/service-runtime'
import { decideBatch } from '../domain/decide.ts'
import {
  brandKey,
  type Posting,
  type PostingOutcome,
  type SystemAccountKind,
  systemKey,
  type Target,
} from '../domain/posting.ts'
import { lockPlayerAccounts, openPlayerAccounts, openSystemAccount } from '../storage/accounts.ts'
import { readKnown } from '../storage/known.ts'
import { writeChanges } from '../storage/write-changes.ts'

const batchMax = 200
const queueMax = 5_000
/**
 * How many batches run at once: while one waits for its commit, another is decided. The locks of accounts that they
 * share keep them apart.
 */
const concurrency = 2

/** Work that belongs to the transaction of a posting, such as the team's audit entry. */
export type Companion = (db: Db, outcome: PostingOutcome) => Promise<void>

interface Waiting {
  readonly posting: Posting
  readonly companion: Companion | undefined
}

/** The only way to a balance: gathers what is posted together, decides it, and writes it in one transaction. */
export class Ledger {
  readonly #db: Database
  readonly #clock: Clock
  readonly #postings: Gatherer<Waiting, PostingOutcome>
  readonly #openings: Gatherer<Target, undefined>
  /** Ids of system accounts, which never change once they are there. */
  readonly #systemAccounts = new Map<string, bigint>()

  constructor({ db, clock }: { readonly db: Database; readonly clock: Clock }) {
    this.#db = db
    this.#clock = clock
    // If a batch cannot be written because of one posting's data or account, its postings run alone, so that the others
    // succeed.
    this.#postings = new Gatherer({
      run: (batch, { patienceMs: lockTimeoutMs, alone: apart }) => this.#apply(batch, { lockTimeoutMs, apart }),
      batchMax,
      queueMax,
      concurrency,
      ownerOf: ({ posting }) => posting.brandId,
      // A batch may hold many postings of one account. Once an account is locked out, its postings run alone, so that
      // none of them holds up a batch.
      suspects: ({ posting: { brandId, playerId } }) => [brandKey(brandId, playerId)],
      faultOf: batchFaultOf,
    })
    this.#openings = new Gatherer({
      run: async (targets) => {
        await openPlayerAccounts(db, targets, clock.now())
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
   * @param companion runs in the transaction of the posting
   * @throws {Rejection} SERVICE_UNAVAILABLE when too much is waiting
   */
  post(posting: Posting, companion?: Companion): Promise<PostingOutcome> {
    return this.#postings.add({ posting, companion })
  }

  /** @throws {Rejection} SERVICE_UNAVAILABLE when too much is waiting */
  openAccount(target: Target): Promise<void> {
    return this.#openings.add(target)
  }

  async #apply(
    batch: readonly Waiting[],
    waiting: { readonly lockTimeoutMs: number; readonly apart: boolean },
  ): Promise<PostingOutcome[]> {
    const postings = batch.map(({ posting }) => posting)
    const systemAccounts = await this.#findSystemAccounts(postings)
    for (;;) {
      const outcomes = await this.#db.transaction((db) => this.#applyOnce(db, batch, postings, systemAccounts), {
        ...waiting,
        readsFirst: true,
      })
      if (outcomes !== 'accounts missing') return outcomes
      await openPlayerAccounts(this.#db, distinctTargets(postings), this.#clock.now())
    }
  }

  async #applyOnce(
    db: Db,
    batch: readonly Waiting[],
    postings: readonly Posting[],
    systemAccounts: ReadonlyMap<string, bigint>,
  ): Promise<PostingOutcome[] | 'accounts missing'> {
    const targets = distinctTargets(postings)
    const locked = await lockPlayerAccounts(db, targets)
    // Accounts are opened outside this transaction, so that here all are locked at once and in one order.
    if (locked.length < targets.length) return 'accounts missing'
    const known = await readKnown(db, postings)
    const accounts = new Map(locked.map((account) => [brandKey(account.brandId, account.playerId), account]))
    const now = this.#clock.now()
    const { outcomes, changes } = decideBatch(postings, { accounts, systemAccounts, ...known }, now)
    // All goes over one connection, and the changes are the first statement: what a companion reads has them.
    await Promise.all([
      writeChanges(db, changes, now),
      ...batch.map(({ companion }, index) => companion?.(db, outcomes[index] as PostingOutcome)),
    ])
    return [...outcomes]
  }

  async #findSystemAccounts(postings: readonly Posting[]): Promise<ReadonlyMap<string, bigint>> {
    for (const posting of postings) {
      const kind = counterpartyOf(posting)
      if (kind === null) continue
      const { brandId, currency } = posting
      const key = systemKey(brandId, kind, currency)
      if (this.#systemAccounts.has(key)) continue
      this.#systemAccounts.set(key, await openSystemAccount(this.#db, { brandId, kind, currency }, this.#clock.now()))
    }
    return this.#systemAccounts
  }
}

function counterpartyOf(posting: Posting): SystemAccountKind | null {
  switch (posting.kind) {
    case 'credit':
    case 'debit':
    case 'refusal':
      return posting.counterparty
    case 'capture':
      return 'withdrawals'
    case 'hold':
    case 'release':
      return null
    default:
      return posting satisfies never
  }
}

const distinctTargets = (postings: readonly Posting[]): Target[] => [
  ...new Map(postings.map((posting) => [brandKey(posting.brandId, posting.playerId), posting])).values(),
]
