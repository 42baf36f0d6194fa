import type { Database } from '@backoffice/service-runtime'
import { keepAccountCheckpoints } from '../storage/reconciliations.ts'
import { type AccountsToCheck, checkAccounts } from './account-check.ts'
import type { RunBeginning } from './beginning.ts'
import type { Findings } from './findings.ts'
import type { Snapshots } from './snapshots.ts'
import { CurrencySums } from './system-check.ts'

/** The accounts of players that a run looks at, with what comes of it. */
export class Chains {
  readonly #db: Database
  readonly #findings: Findings
  readonly #entriesMax: number
  /** Accounts whose chains are followed from their first entry on. */
  readonly fromZero = new Set<bigint>()
  /** Of transactions that have ended since the last run. */
  readonly sums = new CurrencySums()
  accounts = 0
  vouchedFor = 0

  constructor(db: Database, findings: Findings, entriesMax: number) {
    this.#db = db
    this.#findings = findings
    this.#entriesMax = entriesMax
  }

  /** @returns how many entries were looked at */
  async follow(
    snapshots: Snapshots,
    ids: readonly bigint[],
    how: Pick<RunBeginning, 'since'> & Omit<AccountsToCheck, 'ids' | 'believedBelow'>,
  ): Promise<number> {
    const { accounts, entries, vouchedFor, checkpoints } = await this.check(snapshots, ids, how)
    this.vouchedFor += vouchedFor
    this.accounts += accounts
    this.#findings.compared('balances', accounts)
    this.#findings.compared('chains', entries)
    this.#findings.compared('checkpoints', checkpoints.length)
    return entries
  }

  /** @param broken is told of accounts that are not right, which are then followed to say why; else it is said here */
  async check(
    snapshots: Snapshots,
    ids: readonly bigint[],
    { since, ...how }: Pick<RunBeginning, 'since'> & Omit<AccountsToCheck, 'ids' | 'believedBelow'>,
    broken?: (id: bigint) => void,
  ) {
    const left = new Set<bigint>()
    const found = await checkAccounts(
      snapshots,
      { ...how, ids, believedBelow: since?.below ?? how.endedBelow },
      {
        add: (check, id, found) => {
          if (broken === undefined) this.#findings.add(check, found, { kind: 'account', key: String(id) })
          else left.add(id)
        },
        entered: (entry) => this.sums.add(entry),
      },
      this.#entriesMax,
    )
    for (const id of left) broken?.(id)
    const checkpoints = found.checkpoints.filter(({ accountId }) => !left.has(accountId))
    await keepAccountCheckpoints(this.#db, checkpoints, String(how.endedBelow))
    return found
  }
}
