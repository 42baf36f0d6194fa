import type { ReadDb } from '@backoffice/service-runtime'
import { ask, type Kind, type Question, type TransferFacts } from './check.ts'
import type { Findings } from './findings.ts'
import { readEach, unreadable } from './readable.ts'
import { relations } from './relations.ts'
import type { Snapshot } from './snapshots.ts'
import { isOlder, type Since } from './sources.ts'

interface Examined {
  readonly questions: readonly Question[]
  readonly findings: Findings
  /** Null in a full run. */
  readonly since: Since | null
}

/** Asks about records, whatever brought a run to them. */
export class Examination {
  readonly #run: Examined
  /** Of players whose chains have grown; only an incremental run looks for them. */
  readonly accounts = new Set<bigint>()

  constructor(run: Examined) {
    this.#run = run
  }

  /** Asks everything about some keys; an incremental run also about what belongs to them. */
  async examine(db: Snapshot, kind: Kind, keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return
    const { questions, findings, since } = this.#run
    const transfers = kind === 'transfer' ? await readTransferFacts(db, keys) : []
    for (const question of questions) {
      if (question.kind !== kind) continue
      const { check, of } = question
      const chosen = of === undefined ? keys : transfers.filter(of).map(({ id }) => id)
      if (chosen.length === 0) continue
      if (question.counts) findings.compared(check, chosen.length)
      const found = await readEach(
        db,
        chosen,
        (some) => ask(db, question, some),
        (key, error) => findings.add(check, unreadable(key, error), { kind, key }),
      )
      for (const { key, check: other = check, found: one } of found) findings.add(other, one, { kind, key })
    }
    if (since !== null) await this.#goOn(db, since, { kind, keys })
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
