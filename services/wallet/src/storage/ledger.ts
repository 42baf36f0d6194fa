import assert from 'node:assert/strict'
import { Rejection } from '@backoffice/contracts'
import { type Clock, Gatherer, GathererFullError, inTransaction, sqlOf, sqlState } from '@backoffice/service-runtime'
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql'
import { decideBatch } from '../domain/decide.ts'
import { type Answer, type Posting, type SystemAccountKind, systemKey, type Target, within } from '../domain/posting.ts'
import { lockPlayerAccounts, openPlayerAccounts, openSystemAccount } from './accounts.ts'
import { readKnown } from './known.ts'
import { writeChanges } from './write-changes.ts'

const batchMax = 200
const queueMax = 5_000
/** Batches at once: while one waits for its commit, another is decided. Accounts that they share keep them apart. */
const concurrency = 2
const attemptsMax = 5

/** Work that belongs into the transaction of a posting, such as the team's audit entry. */
export type Companion = (em: EntityManager, answer: Answer) => Promise<void>

/** The only way to a balance: gathers what is posted together, decides it, and writes it in one transaction. */
export class Ledger {
  readonly #orm: MikroORM
  readonly #clock: Clock
  readonly #gatherer: Gatherer<Posting, Answer>
  /** Ids of system accounts, which never change once they are there. */
  readonly #systemAccounts = new Map<string, bigint>()

  constructor(parts: { readonly orm: MikroORM; readonly clock: Clock }) {
    this.#orm = parts.orm
    this.#clock = parts.clock
    this.#gatherer = new Gatherer<Posting, Answer>({
      run: (batch) => this.#postTogether(batch),
      batchMax,
      queueMax,
      concurrency,
    })
  }

  /**
   * Posts with whatever arrives at the same time.
   * @throws {Rejection} SERVICE_UNAVAILABLE when too much is waiting
   */
  async post(posting: Posting): Promise<Answer> {
    try {
      return await this.#gatherer.add(posting)
    } catch (error) {
      if (error instanceof GathererFullError)
        throw Object.assign(new Rejection('SERVICE_UNAVAILABLE'), { cause: error })
      throw error
    }
  }

  /** Posts alone, in one transaction with `companion`. */
  async postWith(posting: Posting, companion: Companion): Promise<Answer> {
    const [answer] = await this.#apply([posting], companion)
    assert(answer !== undefined)
    return answer
  }

  async open(target: Target): Promise<void> {
    await openPlayerAccounts(sqlOf(this.#orm.em.fork()), [target], this.#clock.now())
  }

  /** A posting that cannot be written never takes its neighbours down: after a failure each goes alone. */
  async #postTogether(batch: readonly Posting[]): Promise<Answer[]> {
    try {
      return await this.#apply(batch)
    } catch (error) {
      if (batch.length === 1 || !isOfTheData(error)) throw error
    }
    const answers: Answer[] = []
    for (const posting of batch) {
      try {
        answers.push(...(await this.#apply([posting])))
      } catch (error) {
        if (!isOfTheData(error)) throw error
        answers.push({ outcome: 'fault', message: error instanceof Error ? error.message : String(error) })
      }
    }
    return answers
  }

  async #apply(batch: readonly Posting[], companion?: Companion): Promise<Answer[]> {
    const systemAccounts = await this.#findSystemAccounts(batch)
    for (let attempt = 1; ; attempt++) {
      try {
        const answers = await inTransaction(this.#orm, (em) => this.#applyOnce(em, batch, systemAccounts, companion))
        if (answers !== 'accounts missing') return answers
        await openPlayerAccounts(sqlOf(this.#orm.em.fork()), distinctTargets(batch), this.#clock.now())
      } catch (error) {
        // Another batch has just taken a reference of ours, with another account: now it is there to be seen.
        if (attempt >= attemptsMax || sqlState(error) !== uniqueViolation) throw error
      }
    }
  }

  async #applyOnce(
    em: EntityManager,
    batch: readonly Posting[],
    systemAccounts: ReadonlyMap<string, bigint>,
    companion: Companion | undefined,
  ): Promise<Answer[] | 'accounts missing'> {
    const connection = sqlOf(em)
    const targets = distinctTargets(batch)
    const locked = await lockPlayerAccounts(connection, targets)
    // Opened outside, so that accounts are locked all at once and in one order.
    if (locked.length < targets.length) return 'accounts missing'
    const known = await readKnown(connection, batch)
    const accounts = new Map(locked.map((account) => [within(account.brandId, account.playerId), account]))
    const now = this.#clock.now()
    const { answers, changes } = decideBatch(batch, { accounts, systemAccounts, ...known }, now)
    await writeChanges(connection, changes, now)
    if (companion !== undefined && answers[0] !== undefined) await companion(em, answers[0])
    return [...answers]
  }

  async #findSystemAccounts(batch: readonly Posting[]): Promise<ReadonlyMap<string, bigint>> {
    for (const posting of batch) {
      const kind = counterpartyOf(posting)
      if (kind === null) continue
      const { brandId, currency } = posting
      const key = systemKey(brandId, kind, currency)
      if (this.#systemAccounts.has(key)) continue
      const connection = sqlOf(this.#orm.em.fork())
      this.#systemAccounts.set(key, await openSystemAccount(connection, { brandId, kind, currency }, this.#clock.now()))
    }
    return this.#systemAccounts
  }
}

const uniqueViolation = '23505'

/** Class 22 is bad data, 23 a broken constraint; all else, such as a lost connection, is nobody's posting's fault. */
function isOfTheData(error: unknown): boolean {
  return error instanceof assert.AssertionError || /^2[23]/.test(sqlState(error) ?? '')
}

function counterpartyOf(posting: Posting): SystemAccountKind | null {
  switch (posting.kind) {
    case 'credit':
    case 'debit':
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

const distinctTargets = (batch: readonly Posting[]): Target[] => [
  ...new Map(batch.map((posting) => [within(posting.brandId, posting.playerId), posting])).values(),
]
