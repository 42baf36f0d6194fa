import { setTimeout as wait } from 'node:timers/promises'
import { operations, type ReconciliationReport, readStatement, statementRows, visible } from '@backoffice/contracts'
import { Progress } from '@backoffice/process/progress'
import { lists, textColumns } from '@backoffice/team-rows'
import { stringify } from 'csv-stringify/sync'
import { followed, print, printRecord, printSection } from '../output.ts'
import { listed, row, type Work } from '../row.ts'

const { adjustWallet, reverseTransfer, listEntries } = operations.wallet
const { reconcileWallet, recordRestore } = operations.reconciler

const progressEveryMs = 250

export const wallet = [
  row({
    path: 'wallet entries',
    operation: listEntries,
    arguments: ['playerId'],
    show: ({ data, nextCursor: _, ...balances }) => {
      printRecord({ ...balances, currency: data[0]?.currency })
      printSection('', data, textColumns(lists.entries))
    },
  }),
  row({
    path: 'wallet days',
    operation: operations.wallet.listMoneyDays,
    columns: ['day', 'deposits', 'deposited', 'withdrawals', 'withdrawn', 'currency'],
  }),
  row({
    path: 'wallet balances',
    operation: operations.wallet.listBalanceDays,
    arguments: ['playerId'],
    columns: ['day', 'balance', 'currency'],
  }),
  row({
    path: 'wallet adjust',
    operation: adjustWallet,
    arguments: ['playerId', 'amount'],
    look: ({ playerId }, session) => session.call(operations.players.showPlayer, { playerId }),
    confirm: ({ playerId, amount }, { name, operatorId, environment, currency }) =>
      `Adjust the wallet of ${playerId} (${JSON.stringify(name)} of ${operatorId} in ${environment}) by ${amount} ${currency}?`,
  }),
  row({
    path: 'wallet reverse',
    operation: reverseTransfer,
    arguments: ['playerId', 'transferId'],
    confirm: ({ playerId, transferId }) => `Reverse ${transferId} of ${playerId}?`,
  }),
  row({
    path: 'wallet reconcile',
    operation: reconcileWallet,
    description:
      'Compare what was entered since the last run with what it follows from, and name each difference; exit status 1 when there is one',
    fixed: { runId: undefined },
    run: reconcile,
    show: showReport,
  }),
  listed(lists.reconciliations),
  row({
    path: 'wallet record-restore',
    operation: recordRestore,
    arguments: ['restoredTo'],
    confirm: ({ restoredTo }) =>
      `Has the report of the reconciliation been kept? Once somebody else approves it, no head that the database before the restore exported after ${restoredTo} is compared.`,
  }),
]

/** Starts a run and follows it. The exit status says whether everything agrees. */
async function reconcile({ session, input }: Work<typeof reconcileWallet>): Promise<ReconciliationReport> {
  let reply = await session.call(reconcileWallet, { ...input, full: input.full ?? false })
  while (reply.state === 'running') {
    const { check } = reply.progress
    // Each check has its own measure.
    using progress = new Progress(`reconciliation, ${visible(check)}`)
    while (reply.state === 'running' && reply.progress.check === check) {
      const { done, total } = reply.progress
      progress.at(`${done} of ${total}`, total > 0 ? done / total : 0)
      await wait(progressEveryMs)
      reply = await session.call(reconcileWallet, { runId: reply.runId })
    }
  }
  const { state, report, failure } = reply
  if (state === 'failed' || report === null) throw new Error(`the reconciliation failed: ${failure}`)
  if (report.differencesTotal > 0) process.exitCode = 1
  return report
}

function showReport(report: ReconciliationReport): void {
  const { snapshotAt, kind, provenSince, restored, checks, differences, differencesTotal } = report
  const { restores, inFlight, inFlightTotal } = report
  const found = { differences: differencesTotal, inFlight: inFlightTotal }
  printRecord({ snapshotAt, kind, allProvenSince: provenSince, ...restored, ...found })
  printSection('', checks, ['check', 'compared', 'differences'])
  if (differences.length > 0) {
    printSection('differences', differences, [
      'check',
      'class',
      'environment',
      'subject',
      'expected',
      'actual',
      ['what it means', 'explanation'],
    ])
  }
  if (restores.length > 0)
    printSection('exported heads that are not compared, because the database was restored', restores, [
      'restoredTo',
      'recordedAt',
      ['by', 'recordedBy'],
      'reason',
      ['exports', 'exportsSilenced'],
    ])
  if (inFlight.length > 0) {
    printSection('in flight', inFlight, ['service', ['command', 'name'], 'subject', ['seconds', 'ageSeconds']])
  }
}

const { exportStatement } = operations.wallet

export const statement = [
  row({
    path: 'statement export',
    operation: exportStatement,
    description: "Write a period's entries as CSV with totals: an operator's daily reconciliation",
    fixed: { limit: undefined, cursor: undefined },
    run: exportAll,
    // The CSV is printed already.
    show: () => {},
  }),
]

/** Exports page by page, because a period may be larger than memory. JSON is one document, so it is printed at the end. */
async function exportAll({ session, input, json }: Work<typeof exportStatement>) {
  const read = readStatement((page) => session.call(exportStatement, page), input)
  const pages = followed('statement export', read, ({ data, totals }) => ({
    rows: data.length,
    all: totals.reduce((sum, { entries }) => sum + entries, 0),
  }))
  if (!json) {
    for await (const rows of statementRows(pages)) print(stringify([...rows]))
    return {}
  }
  const all = await Array.fromAsync(pages)
  return { data: all.flatMap(({ data }) => data), totals: all.at(-1)?.totals ?? [] }
}
