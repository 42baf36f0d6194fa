import { type Fragment, type ReadDb, sql, sqlState } from '@backoffice/service-runtime'
import { ask, type FoundDifference, type Kind, type Question, type TransferFacts } from './check.ts'
import type { Findings } from './findings.ts'
import type { Plain } from './ranges.ts'
import type { Snapshot, Snapshots } from './snapshots.ts'
import { isOlder, pagesOf, type Since } from './sources.ts'

interface RunToCheck {
  readonly questions: readonly Question[]
  readonly findings: Findings
  /** Null in a full run. */
  readonly since: Since | null
  /** Whether a snapshot is of two databases, and so of two moments. */
  readonly isOfTwo: boolean
}

/** What was found at two moments, and may have been under way between them. */
interface Suspicion {
  readonly kind: Kind
  readonly key: string
  readonly check: string
  readonly found: FoundDifference
}

/** A record that is different at each look is different for good after so many. Nothing honest changes so often. */
const looksMax = 5

/** What a plain transfer is, for the checks that look at some transfers only: of a deposit, or of a play. */
const plainTransfer = { id: '', type: 'DEPOSIT', isPosted: true } satisfies TransferFacts

/** Asks about records, whatever brought a run to them. */
export class RecordChecks {
  readonly #run: RunToCheck
  /** Of players whose chains have grown; only an incremental run looks for them. */
  readonly accounts = new Set<bigint>()
  #suspicions = new Map<string, Suspicion>()

  constructor(run: RunToCheck) {
    this.#run = run
  }

  /** Asks everything about some keys; an incremental run also about what belongs to them. */
  async examine(db: Snapshot, kind: Kind, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return
    await this.#ask(db, { kind, keys, counts: true })
    const { since } = this.#run
    if (since !== null) await this.#goOn(db, since, { kind, keys })
  }

  /**
   * Looks again at what was found at two moments, the ledger's and then that of the other database. No record becomes again
   * what it was before: so what two looks find alike was so at one moment, between them. What they do not was under way, and
   * is looked at once more.
   */
  async lookAgain(snapshots: Snapshots, keysMax: number): Promise<void> {
    for (let look = 2; this.#suspicions.size > 0; look++) {
      const before = this.#suspicions
      this.#suspicions = new Map()
      for (const [kind, found] of Map.groupBy(before.values(), (suspicion) => suspicion.kind))
        for (const keys of pagesOf([...new Set(found.map(({ key }) => key))], keysMax))
          await snapshots.see((db) => this.#ask(db, { kind, keys, counts: false }))
      for (const [identity, { check, found, kind, key }] of this.#suspicions) {
        if (!before.has(identity) && look < looksMax) continue
        this.#run.findings.add(check, found, { kind, key })
        this.#suspicions.delete(identity)
      }
    }
  }

  async #ask(
    db: Snapshot,
    { kind, keys, counts }: { readonly kind: Kind; readonly keys: readonly string[]; readonly counts: boolean },
  ): Promise<void> {
    const { questions, findings } = this.#run
    const transfers = kind === 'transfer' ? await readTransferFacts(db, keys) : []
    for (const question of questions) {
      if (question.kind !== kind) continue
      const { check, of } = question
      const chosen = of === undefined ? keys : transfers.filter(of).map(({ id }) => id)
      if (chosen.length === 0) continue
      if (question.counts && counts) findings.compared(check, chosen.length)
      const found = await readEach(
        db,
        chosen,
        (some) => ask(db, question, some),
        (key, error) => findings.add(check, unreadable(key, error), { kind, key }),
      )
      for (const { key, check: other = check, found: one } of found) this.#add({ kind, key, check: other, found: one })
    }
  }

  #add(suspicion: Suspicion): void {
    const { kind, key, check, found } = suspicion
    if (this.#run.isOfTwo) this.#suspicions.set(JSON.stringify(suspicion), suspicion)
    else this.#run.findings.add(check, found, { kind, key })
  }

  /** Whether plain records of a kind need no question: each says that it finds nothing there. */
  needsNoQuestion(kind: Kind): boolean {
    return this.#run.questions.every((one) => one.kind !== kind || one.plain === true)
  }

  comparedPlain(kind: Kind, { plain, ofPlay = 0 }: Pick<Plain, 'plain' | 'ofPlay'>): void {
    for (const { check, counts, of, kind: about } of this.#run.questions) {
      if (!counts || about !== kind) continue
      const isAbout = (type: string) => of === undefined || of({ ...plainTransfer, type })
      this.#run.findings.compared(check, (isAbout('DEPOSIT') ? plain - ofPlay : 0) + (isAbout('BET') ? ofPlay : 0))
    }
  }

  /**
   * From what was entered to what it is about: accounts whose chains have grown, and records that are older than the last
   * run and have changed since.
   */
  async #goOn(
    db: Snapshot,
    since: Since,
    { kind, keys }: { readonly kind: Kind; readonly keys: readonly string[] },
  ): Promise<void> {
    const related = relations[kind]
    if (related === undefined) return
    const { accountIds, recordIds, holdKeys, roundIds } = await related(db, keys)
    for (const id of accountIds ?? []) this.accounts.add(id)
    const older = (prefix: 'dep' | 'wdr') => [
      ...new Set(recordIds?.filter((id) => id.startsWith(`${prefix}_`) && isOlder(prefix, id, since))),
    ]
    await this.examine(db, 'deposit', older('dep'))
    await this.examine(db, 'withdrawal', older('wdr'))
    await this.examine(db, 'hold', holdKeys ?? [])
    // Younger ones are found by their own table.
    const rounds = roundIds?.filter((id) => isOlder('rnd', id, since)) ?? []
    await this.examine(db, 'round', rounds)
  }
}

/** Once for all questions about a page of transfers. */
const readTransferFacts = (db: ReadDb, ids: readonly string[]): Promise<TransferFacts[]> => db<TransferFacts>`
  select id, type, outcome = 'posted' as is_posted from wallet.transfer where id = any(${ids}::text[])
`

/**
 * Faults of what is stored: values that do not fit together (21, 22, 23), a limit (54), a failed assertion (P0), a page
 * that is broken (58, XX). With any other the next statement fails too.
 */
const faultsOfData = /^(2[123]|54|58|P0|XX)/

/** Without a state it is a fault of ours in reading the row, or the connection's: then the next statement fails too. */
export function isFaultOfData(error: unknown): boolean {
  const state = sqlState(error)
  return state === undefined || faultsOfData.test(state)
}

/**
 * Reads what belongs to some keys. Where that fails because of what one of them holds, the keys are halved until those that
 * fail are alone, so that nobody who can write one row can keep the others from being read.
 * @param unreadable is told of each key that cannot be read
 * @throws what has nothing to do with a key: the connection is lost, a statement took too long, a right is missing
 */
export async function readEach<Key, Read>(
  db: Snapshot,
  keys: readonly Key[],
  read: (keys: readonly Key[]) => Promise<readonly Read[]>,
  unreadable: (key: Key, error: unknown) => void,
): Promise<Read[]> {
  try {
    return [...(await read(keys))]
  } catch (error) {
    if (!isFaultOfData(error)) throw error
    await db.rewind()
    if (keys.length > 1) {
      const half = Math.ceil(keys.length / 2)
      const first = await readEach(db, keys.slice(0, half), read, unreadable)
      return [...first, ...(await readEach(db, keys.slice(half), read, unreadable))]
    }
    for (const key of keys) unreadable(key, error)
    return []
  }
}

/** What is found of a record that cannot be read: whether it is right is not known. */
export const unreadable = (subject: string, error: unknown, brandId: string | null = null): FoundDifference => ({
  brandId,
  subject,
  expected: 'a record that can be read',
  actual: `cannot be read: ${error instanceof Error ? error.message : error}`,
  explanation: 'A record, or one that belongs to it, cannot be read. Nobody knows whether it is right.',
})

/** The rounds of plays `p`, which are joined to some keys. */
async function roundsOf(db: ReadDb, plays: Fragment, keys: readonly string[]): Promise<RelatedRecords> {
  const rows = await db<{ roundId: string }>`
    select distinct p.round_id from unnest(${keys}::text[]) as k (key) ${plays} where p.round_id is not null
  `
  return { roundIds: rows.map(({ roundId }) => roundId) }
}

interface RelatedRecords {
  readonly accountIds?: readonly bigint[]
  /** Of deposits and withdrawals. */
  readonly recordIds?: readonly string[]
  readonly holdKeys?: readonly string[]
  readonly roundIds?: readonly string[]
}

/** From what was entered lately to what it is about. */
const relations: Readonly<Partial<Record<Kind, (db: ReadDb, keys: readonly string[]) => Promise<RelatedRecords>>>> = {
  async transfer(db, keys) {
    const entries = await db<{ accountId: bigint }>`
      select distinct account_id from wallet.entry where transfer_id = any(${keys}::text[]) and seq is not null
    `
    const transfers = await db<{ reference: string }>`
      select reference from wallet.transfer where id = any(${keys}::text[]) and type in ('DEPOSIT', 'WITHDRAWAL')
    `
    return {
      ...(await roundsOf(
        db,
        sql`
        join wallet.transfer x on x.id = k.key join wallet.transfer t on t.id = x.reverses
        join wallet.play p on p.id = t.reference`,
        keys,
      )),
      accountIds: entries.map(({ accountId }) => accountId),
      recordIds: transfers.map(({ reference }) => reference),
    }
  },
  play: (db, keys) => roundsOf(db, sql`join wallet.play p on p.id = k.key`, keys),
  event: async (_db, keys) => ({ recordIds: keys }),
  async paymentsAudit(db, keys) {
    const rows = await db<{ id: string | null }>`
      select coalesce(e.deposit_id, a.subject) as id from payments.reconcilable_audit a
      left join payments.reconcilable_ended_command e on e.command_id = a.subject where a.id = any(${keys}::text[])
    `
    return { recordIds: rows.map(({ id }) => id).filter((id) => id !== null) }
  },
  async withdrawal(db, keys) {
    const rows = await db<{ key: string }>`
      select json_build_array(brand_id, id)::text as key from payments.reconcilable_withdrawal where id = any(${keys}::text[])
    `
    return { holdKeys: rows.map(({ key }) => key) }
  },
  async hold(db, keys) {
    const rows = await db<{ accountId: bigint }>`
      select distinct h.account_id from unnest(${keys}::text[]) as k (key)
      join wallet.hold h on (h.brand_id, h.reference) = (k.key::json ->> 0, k.key::json ->> 1)
    `
    return { accountIds: rows.map(({ accountId }) => accountId) }
  },
}
