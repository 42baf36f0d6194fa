import type { Difference, Environment, InFlight, ReconciliationReport } from '@backoffice/contracts'
import { fitting, type ReadDb, readOver } from '@backoffice/service-runtime'
import { Client } from 'pg'
import { readNewestHeads } from '../heads/head-files.ts'
import type { Progress } from '../storage/reconciliations.ts'
import { chains } from './chain-check.ts'
import { type Check, listedMax } from './check.ts'
import { exportedHeads } from './heads-check.ts'
import { decisions, events, histories } from './history-checks.ts'
import { inFlight } from './in-flight-check.ts'
import {
  balances,
  checkpoints,
  corrections,
  counterparties,
  holds,
  reversals,
  sums,
  transfers,
} from './ledger-checks.ts'
import { deposits, withdrawals } from './payments-checks.ts'
import { accounts } from './players-checks.ts'

const connectionTimeoutMs = 10_000
const keepAliveAfterMs = 30_000

const ledgerChecks: readonly Check[] = [
  balances,
  chains,
  transfers,
  sums,
  counterparties,
  corrections,
  reversals,
  holds,
  checkpoints,
  deposits,
  withdrawals,
  histories,
  decisions,
  events,
  accounts,
  inFlight,
]

export interface ReconcileOptions {
  /** The moment at which the ages of effects in flight are measured. */
  readonly at: Date
  /** Where heads of chains have been exported to, if they are. */
  readonly headsDir?: string | undefined
  readonly progress: (progress: Progress) => void
  /** A statement that takes longer ends the run. */
  readonly statementMsMax: number
  /** Ends the run at once, even in the middle of a query. */
  readonly signal: AbortSignal
}

/**
 * Recomputes all that the wallet keeps, and compares it with the records that caused it, in one read-only snapshot.
 * @param url of the reconciler's role, which may read the schemas wallet and payments, the ids of players, and nothing
 *   else
 */
export async function reconcile(
  url: string,
  { at, headsDir, progress, statementMsMax, signal }: ReconcileOptions,
): Promise<ReconciliationReport> {
  const checks =
    headsDir === undefined
      ? ledgerChecks
      : [...ledgerChecks, exportedHeads([...(await readNewestHeads(headsDir)).values()])]
  // Each query is planned for its own values. A generic plan would expect a page to be a tenth of the ledger.
  const options = `-c plan_cache_mode=force_custom_plan -c statement_timeout=${statementMsMax}`
  const client = new Client({
    connectionString: url,
    application_name: 'wallet reconcile',
    options,
    connectionTimeoutMillis: connectionTimeoutMs,
    // A statement may be silent for long. If PostgreSQL's machine is lost, nothing else tells.
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveAfterMs,
  })
  // The query under way gets the error. Without this listener it would also end the process.
  client.on('error', () => {})
  const abort = () => void client.end()
  signal.addEventListener('abort', abort)
  await client.connect()
  try {
    signal.throwIfAborted()
    await client.query('begin isolation level repeatable read read only')
    const report = await runChecks(checks, { db: readOver(client), at }, progress)
    await client.query('commit')
    return report
  } finally {
    signal.removeEventListener('abort', abort)
    await client.end()
  }
}

async function runChecks(
  checks: readonly Check[],
  snapshot: Parameters<Check['run']>[0],
  progress: (progress: Progress) => void,
): Promise<ReconciliationReport> {
  const done: ReconciliationReport['checks'] = []
  const differences: Difference[] = []
  const waiting: InFlight[] = []
  const environmentOf = await readEnvironments(snapshot.db)
  const differencesIn = { sandbox: 0, production: 0 }
  let inFlightTotal = 0
  for (const check of checks) {
    progress({ check: check.name, done: 0, total: 0 })
    const result = await check.run(snapshot, (count, total) => progress({ check: check.name, done: count, total }))
    done.push({ check: check.name, compared: result.compared, differences: result.differencesTotal })
    const room = listedMax - differences.length
    const listed = result.differences.slice(0, room)
    differences.push(
      ...listed.map((found) => ({ check: check.name, ...found, environment: environmentOf(found.brandId) })),
    )
    const ofBrands = result.ofBrands ?? countBrands(result.differences)
    for (const [brandId, count] of ofBrands) differencesIn[environmentOf(brandId)] += count
    waiting.push(...(result.inFlight ?? []))
    inFlightTotal += result.inFlightTotal ?? 0
  }
  return {
    snapshotAt: snapshot.at.toISOString(),
    checks: done,
    // A report is a reply, and must fit into one message.
    differences: fitting(differences),
    differencesIn,
    differencesTotal: done.reduce((sum, check) => sum + check.differences, 0),
    inFlight: fitting(waiting),
    inFlightTotal,
  }
}

function countBrands(differences: readonly Pick<Difference, 'brandId'>[]): ReadonlyMap<string | null, number> {
  const counts = new Map<string | null, number>()
  for (const { brandId } of differences) counts.set(brandId, (counts.get(brandId) ?? 0) + 1)
  return counts
}

/** The environment of a brand. What no record tells is taken for production, because that is about real money. */
async function readEnvironments(db: ReadDb): Promise<(brandId: string | null) => Environment> {
  const rows = await db<{ brandId: string }>`
    select brand_id from players.player where environment = 'sandbox'
    union select brand_id from payments.deposit where environment = 'sandbox'
    union select brand_id from payments.withdrawal where environment = 'sandbox'
  `
  const sandbox = new Set(rows.map(({ brandId }) => brandId))
  return (brandId) => (brandId !== null && sandbox.has(brandId) ? 'sandbox' : 'production')
}
