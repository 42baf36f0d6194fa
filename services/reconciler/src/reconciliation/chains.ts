import type { Database } from '@backoffice/service-runtime'
import { keepAccountCheckpoints } from '../storage/reconciliations.ts'
import { type AccountsToCheck, checkAccounts } from './account-check.ts'
import type { RunStart } from './begin.ts'
import type { Findings } from './findings.ts'
import type { Links } from './proof.ts'
import type { Snapshots } from './snapshots.ts'
import { CurrencySums } from './system-check.ts'

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
  async follow(
    snapshots: Snapshots,
    ids: readonly bigint[],
    how: Pick<RunStart, 'since'> & Omit<AccountsToCheck, 'ids' | 'believedBelow'>,
  ): Promise<number> {
    const { accounts, entries, vouchedFor, checkpoints } = await this.check(snapshots, ids, how)
    this.vouchedFor += vouchedFor
    this.accounts += accounts
    this.#findings.compared('balances', accounts)
    this.#findings.compared('chains', entries)
    this.#findings.compared('checkpoints', checkpoints.length)
    return entries
  }

  /** @param links what a proof knows of the links before: accounts that are not right are named, and followed to say why */
  async check(
    snapshots: Snapshots,
    ids: readonly bigint[],
    { since, ...how }: Pick<RunStart, 'since'> & Omit<AccountsToCheck, 'ids' | 'believedBelow'>,
    links?: Links,
  ) {
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
