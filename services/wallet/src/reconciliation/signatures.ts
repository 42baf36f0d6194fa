import { operations, toMinorUnits } from '@backoffice/contracts'
import {
  fixedKeys,
  IdentityRefused,
  KeysUnavailable,
  type ReadDb,
  RecordedCalls,
  readProvenEntries,
  sql,
  type Trusted,
} from '@backoffice/service-runtime'
import type { HeadStore } from '../heads/store.ts'
import { isSameTeam, type KnownTeam, listTeams, writeTeam } from '../heads/teams.ts'
import type { KeyedFound, Question } from './check.ts'
import { readEnvironments } from './environments.ts'
import { withAudit } from './ledger-checks.ts'
import type { Since } from './sources.ts'

/** Who may correct the ledger, as the settings say it. */
export interface TeamRules extends Trusted {
  /** Up to this amount one person may correct a balance in production. */
  readonly aloneUpTo: string
  /** How long a release or a setting may take until it is rolled out everywhere; a day when absent. */
  readonly rollOutMs?: number
}

const rollOutMsDefault = 24 * 3_600_000
/** Without a record of former keys and settings, those of today are only good for what is not older. */
const unrecordedMsMax = 24 * 3_600_000
/** With it people began to sign what they do. */
const signingMigration = '0000_runtime_team_evidence'

interface Correction {
  readonly key: string
  readonly brandId: string
  readonly operation: 'adjustWallet' | 'reverseTransfer'
  readonly auditId: string
  readonly createdAt: Date
  readonly amount: bigint
}

/**
 * Every adjustment and reversal was signed by a person of the team who might make it, and by two where it took two. The
 * audit trail alone could have been written by whoever has the rights of the wallet; the signatures could not.
 */
export class Signatures {
  readonly #rules: TeamRules
  readonly #at: Date
  readonly #isRecorded: boolean
  /** In the order of time. */
  readonly #teams: readonly KnownTeam[]
  readonly #calls = new Map<string, RecordedCalls>()

  private constructor(rules: TeamRules, at: Date, { teams, isRecorded }: { teams: KnownTeam[]; isRecorded: boolean }) {
    this.#rules = rules
    this.#at = at
    this.#teams = teams
    this.#isRecorded = isRecorded
  }

  /** Reads who belonged to the team, and records it where it has changed. */
  static async begin(rules: TeamRules, at: Date, store: HeadStore | undefined): Promise<Signatures> {
    const teams = store === undefined ? [] : await listTeams(store)
    const keys = await rules.keys?.read().catch((error) => {
      // What was recorded before is enough for most of it.
      if (error instanceof KeysUnavailable) return undefined
      throw error
    })
    if (keys !== undefined) {
      const today = { since: at, identity: rules.identity, keys, aloneUpTo: rules.aloneUpTo }
      const latest = teams.at(-1)
      if (latest === undefined || !isSameTeam(latest, today)) {
        if (store !== undefined) await writeTeam(store, today)
        teams.push(today)
      }
    }
    return new Signatures(rules, at, { teams, isRecorded: store !== undefined })
  }

  /** @param since where an incremental run begins; null in a full one */
  question(since: Since | null): Question {
    return {
      check: 'signatures',
      kind: 'transfer',
      counts: true,
      of: ({ type, isPosted }) => isPosted && (type === 'ADJUSTMENT' || type === 'REVERSAL'),
      find: (db, keys) => this.#differences(db, keys, since),
    }
  }

  async #differences(db: ReadDb, keys: readonly string[], since: Since | null): Promise<KeyedFound[]> {
    const signedFrom = await this.#signedFrom(db)
    const corrections = await readCorrections(db, keys)
    // Its own time could be written wrong. What came after a run was not there before it.
    const mustBeSigned = corrections.filter(
      ({ createdAt }) => createdAt >= signedFrom || (since !== null && since.at >= signedFrom),
    )
    const [entries, environmentOf] = await Promise.all([
      readProvenEntries(db, 'wallet', sql`e.id = any(${mustBeSigned.map(({ auditId }) => auditId)}::text[])`),
      readEnvironments(db, [...new Set(mustBeSigned.map(({ brandId }) => brandId))]),
    ])
    const entryOf = new Map(entries.map((entry) => [entry.id, entry]))
    const found: KeyedFound[] = []
    for (const { key, brandId, operation, auditId, amount } of mustBeSigned) {
      const entry = entryOf.get(auditId)
      // Between two statements of one snapshot nothing goes.
      if (entry === undefined) throw new Error(`the audit entry ${auditId} is gone`)
      const { calls, aloneUpTo } = this.#judging(new Date(entry.at))
      const takesTwo = environmentOf(brandId) === 'production' && amount > aloneUpTo
      const fault = await calls.verify(operations.wallet[operation], entry, { takesTwo }).then(
        () => null,
        (error) => {
          if (error instanceof IdentityRefused || error instanceof KeysUnavailable) return error.message
          throw error
        },
      )
      if (fault === null) continue
      const expected = takesTwo ? 'the signatures of two people who might' : 'the signature of a person who might'
      const actual = `${entry.actor} (operation ${entry.operationId}): ${fault}`
      const explanation = 'An adjustment or reversal is not proven by signatures of the team.'
      found.push({ key, found: { brandId, subject: key, expected, actual, explanation } })
    }
    return found
  }

  /** From when on corrections must be signed. */
  async #signedFrom(db: ReadDb): Promise<Date> {
    const [migration] = await db<{ at: Date }>`
      select executed_at as at from wallet.migration where name = ${signingMigration}
    `
    const { rollOutMs = rollOutMsDefault } = this.#rules
    const begun = (migration?.at.getTime() ?? 0) + rollOutMs
    return new Date(this.#isRecorded ? begun : Math.max(begun, this.#at.getTime() - unrecordedMsMax))
  }

  /**
   * By what held at a moment. The first run after a change records it, and while it is rolled out both hold: so what was in
   * force a little earlier counts, and what was recorded next.
   */
  #judging(at: Date): { readonly calls: RecordedCalls; readonly aloneUpTo: bigint } {
    const { identity, keys, aloneUpTo, rollOutMs = rollOutMsDefault } = this.#rules
    if (this.#teams.length === 0)
      return { calls: new RecordedCalls([{ identity, keys }]), aloneUpTo: toMinorUnits(aloneUpTo) }
    const earlier = new Date(at.getTime() - rollOutMs)
    const first = this.#teams.findLastIndex(({ since }) => since <= earlier)
    const next = this.#teams.findIndex(({ since }) => since > at)
    const held = this.#teams.slice(Math.max(first, 0), next < 0 ? undefined : next + 1)
    const amounts = held.map((team) => toMinorUnits(team.aloneUpTo))
    return { calls: this.#callsOf(held), aloneUpTo: amounts.reduce((most, one) => (one > most ? one : most)) }
  }

  #callsOf(held: readonly KnownTeam[]): RecordedCalls {
    const place = held.map((team) => this.#teams.indexOf(team)).join()
    let calls = this.#calls.get(place)
    if (calls === undefined) {
      calls = new RecordedCalls(held.map(({ identity, keys }) => ({ identity, keys: fixedKeys(keys) })))
      this.#calls.set(place, calls)
    }
    return calls
  }
}

/** Those that the audit trail knows; the check `corrections` names the others. */
function readCorrections(db: ReadDb, keys: readonly string[]): Promise<Correction[]> {
  return db<Correction>`
    select p.key, p.brand_id, p.operation, a.id as audit_id, p.created_at, t.amount
    from ${withAudit(sql`unnest(${keys}::text[]) as k (key)`)}
    join wallet.transfer t on t.id = p.key
    where a.id is not null
  `
}
