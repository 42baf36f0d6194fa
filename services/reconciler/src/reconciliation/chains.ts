import type { Database } from '@backoffice/service-runtime'
import { keepAccountCheckpoints } from '../storage/reconciliations.ts'
import { type AccountsToCheck, checkAccounts } from './account-check.ts'
import type { RunStart } from './begin.ts'
import type { Findings } from './findings.ts'
import type { Snapshots } from './snapshots.ts'
import { CurrencySums } from './system-check.ts'

/** What the links of chains have come to. */
export interface Links {
  /** Whether all links of an account, up to the last entry of a transaction that has ended, are right and of such ones. */
  readonly isProven: (id: bigint) => boolean
  /** The chain is to be followed, to say what is wrong. */
  readonly broken: (id: bigint) => void
}

type Start = Pick<RunStart, 'since' | 'endedBelow'>
/** From which entries on chains are followed. */
type How = Start & Omit<AccountsToCheck, 'ids' | 'believedBelow'>

/** The accounts of players that a run looks at, with what comes of it. */
export class Chains {
  readonly #db: Database
  readonly #findings: Findings
  readonly #entriesMax: number
  readonly #progress: (entries: number) => void
  #followed = 0
  /** Accounts whose chains are followed from their first entry on. */
  readonly fromZero = new Set<bigint>()
  /** Of transactions that have ended since the last run. */
  readonly sums = new CurrencySums()
  accounts = 0
  vouchedFor = 0

  /** @param progress how many entries were followed so far */
  constructor(db: Database, findings: Findings, entriesMax: number, progress: (entries: number) => void) {
    this.#db = db
    this.#findings = findings
    this.#entriesMax = entriesMax
    this.#progress = progress
  }

  /** @returns how many entries were looked at */
  async follow(snapshots: Snapshots, ids: readonly bigint[], how: How): Promise<number> {
    const { accounts, entries, vouchedFor, checkpoints } = await this.#check(snapshots, ids, how)
    this.vouchedFor += vouchedFor
    this.accounts += accounts
    this.#findings.compared('balances', accounts)
    this.#findings.compared('chains', entries)
    this.#findings.compared('checkpoints', checkpoints.length)
    return entries
  }

  /**
   * Looks at the ends of chains, of which all links are proven with their transfers. What was entered is added up with those.
   * @param links gets the accounts that are not right, so that `explain` says why
   */
  async lookAtEnds(
    snapshots: Snapshots,
    ids: readonly bigint[],
    { since, endedBelow }: Start,
    links: Links,
  ): Promise<void> {
    const how = { since, endedBelow, fromZero: () => true, fromLast: true, enteredFrom: endedBelow }
    const { accounts, checkpoints } = await this.#check(snapshots, ids, how, links)
    if (since === null) this.accounts += accounts
    this.#findings.compared('balances', accounts)
    this.#findings.compared('checkpoints', checkpoints.length)
  }

  /** Follows chains from their first entries, and says what is wrong. They are counted already. */
  async explain(snapshots: Snapshots, ids: readonly bigint[], { since, endedBelow }: Start): Promise<void> {
    await this.#check(snapshots, ids, { since, endedBelow, fromZero: () => true, enteredFrom: endedBelow })
  }

  async #check(snapshots: Snapshots, ids: readonly bigint[], { since, ...how }: How, links?: Links) {
    const found = await checkAccounts(
      snapshots,
      { ...how, ids, believedBelow: since?.below ?? how.endedBelow },
      {
        add: (check, id, found) => {
          if (links === undefined) this.#findings.add(check, found, { kind: 'account', key: String(id) })
          else links.broken(id)
        },
        entered: (entry) => this.sums.add(entry),
        looked: (entries) => {
          if (links === undefined) this.#progress(this.#followed + entries)
        },
      },
      this.#entriesMax,
    )
    if (links === undefined) this.#followed += found.entries
    const checkpoints = found.checkpoints.filter(({ accountId }) => links?.isProven(accountId) ?? true)
    await keepAccountCheckpoints(this.#db, checkpoints, String(how.endedBelow))
    return { ...found, checkpoints }
  }
}
