import type { ReadDb } from '@backoffice/service-runtime'
import {
  ask,
  type FoundDifference,
  type Kind,
  type Question,
  readEach,
  type Since,
  type TransferFacts,
  unreadable,
} from '../checks/check.ts'
import type { Findings } from '../checks/findings.ts'
import type { Snapshot, Snapshots } from '../storage/snapshots.ts'
import { isOlder, pagesOf } from './sources.ts'

interface Examined {
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

/** Asks about records, whatever brought a run to them. */
export class Examination {
  readonly #run: Examined
  /** Of players whose chains have grown; only an incremental run looks for them. */
  readonly accounts = new Set<bigint>()
  #suspicions = new Map<string, Suspicion>()

  constructor(run: Examined) {
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
    const { accountIds, recordIds, holdKeys } = await related(db, keys)
    for (const id of accountIds ?? []) this.accounts.add(id)
    const older = (prefix: 'dep' | 'wdr') => [
      ...new Set(recordIds?.filter((id) => id.startsWith(`${prefix}_`) && isOlder(prefix, id, since))),
    ]
    await this.examine(db, 'deposit', older('dep'))
    await this.examine(db, 'withdrawal', older('wdr'))
    await this.examine(db, 'hold', holdKeys ?? [])
  }
}

/** Once for all questions about a page of transfers. */
const readTransferFacts = (db: ReadDb, ids: readonly string[]): Promise<TransferFacts[]> => db<TransferFacts>`
  select id, type, outcome = 'posted' as is_posted from wallet.transfer where id = any(${ids}::text[])
`

interface RelatedRecords {
  readonly accountIds?: readonly bigint[]
  /** Of deposits and withdrawals. */
  readonly recordIds?: readonly string[]
  readonly holdKeys?: readonly string[]
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
      accountIds: entries.map(({ accountId }) => accountId),
      recordIds: transfers.map(({ reference }) => reference),
    }
  },
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
