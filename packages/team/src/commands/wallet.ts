import { setTimeout as wait } from 'node:timers/promises'
import { operations, type ReconciliationReport } from '@backoffice/contracts'
import type { Command } from 'commander'
import { type CommonOptions, changing, common, confirm, integer, irreversible, run } from '../leaf.ts'
import { printRecord, printTable } from '../output.ts'
import type { Session } from '../session.ts'

const { adjustWallet, reverseTransfer, locateTransfer, listEntries, reconcileWallet } = operations.wallet
const { locatePlayer } = operations.players

interface TransferOptions extends CommonOptions {
  readonly reference: string
  readonly reason: string
}

const progressEveryMs = 250

export function addWallet(root: Command): void {
  const wallet = root.command('wallet').description('Ledger entries, corrections, reconciliation')
  common(wallet.command('entries'))
    .description("A player's ledger, newest first")
    .argument('<playerId>')
    .option('--before <entryId>', 'go on below this entry')
    .option('--limit <n>', 'at most', integer('--limit'), 50)
    .action((playerId: string, options: CommonOptions & { before?: string; limit: number }) =>
      run(
        options,
        async (session) => {
          const { brandId } = await session.ask(locatePlayer, { id: playerId })
          const before = options.before === undefined ? {} : { before: options.before }
          return session.ask(listEntries, { brandId, playerId, limit: options.limit, ...before })
        },
        ({ available, withdrawable, data }) => {
          printRecord({ available, withdrawable })
          process.stdout.write('\n')
          printTable(data, [
            ['at', ({ createdAt }) => createdAt],
            ['type', ({ type }) => type],
            ['amount', ({ amount }) => amount],
            ['balance', ({ balanceAfter }) => balanceAfter],
            ['reference', ({ reference }) => `${reference.type} ${reference.id}`],
            ['transfer', ({ transferId }) => transferId],
            ['why', ({ reason }) => reason],
          ])
        },
      ),
    )
  addCorrections(wallet)
  common(wallet.command('reconcile'))
    .description('Recompute everything from the ledger and name each difference; exit status 1 when there is one')
    .action(async (options: CommonOptions) => {
      await run(options, (session) => reconcile(session), showReport)
    })
}

function addCorrections(wallet: Command): void {
  irreversible(changing(wallet.command('adjust'), { reason: 'required' }))
    .description('Correct a balance with a new ledger entry')
    .argument('<playerId>')
    .argument('<amount>', 'signed: -12.50 takes money from the player')
    .requiredOption('--reference <text>', 'unique per brand, for ever: the same one never moves money twice')
    .action(async (playerId: string, amount: string, options: TransferOptions) => {
      await confirm(options, `Adjust the wallet of ${playerId} by ${amount}?`)
      const { reference, reason } = options
      await run(
        options,
        async (session) => {
          const { brandId } = await session.ask(locatePlayer, { id: playerId })
          return session.act(adjustWallet, { brandId, playerId, amount, reference, reason }, options.operationId)
        },
        printRecord,
      )
    })
  irreversible(changing(wallet.command('reverse'), { reason: 'required' }))
    .description('Take a transfer back with a new ledger entry')
    .argument('<transferId>', 'a transfer (trf_…) or the ledger item that it made (led_…)')
    .requiredOption('--reference <text>', 'unique per brand, for ever: the same one never moves money twice')
    .action(async (transferId: string, options: TransferOptions) => {
      await confirm(options, `Reverse ${transferId}?`)
      const { reference, reason } = options
      await run(
        options,
        async (session) => {
          const { brandId } = await session.ask(locateTransfer, { id: transferId })
          return session.act(reverseTransfer, { brandId, transferId, reference, reason }, options.operationId)
        },
        printRecord,
      )
    })
}

/** Starts a run and follows it. The exit status says whether everything agrees. */
async function reconcile(session: Session): Promise<ReconciliationReport> {
  let { runId, state, progress, report, failure } = await session.ask(reconcileWallet, {})
  let shown = ''
  while (state === 'running') {
    const line = `${progress.check}: ${progress.done} of ${progress.total}\n`
    if (line !== shown) process.stderr.write(line)
    shown = line
    await wait(progressEveryMs)
    ;({ state, progress, report, failure } = await session.ask(reconcileWallet, { runId }))
  }
  if (state === 'failed' || report === null) throw new Error(`the reconciliation failed: ${failure}`)
  if (report.differencesTotal > 0) process.exitCode = 1
  return report
}

function showReport({
  snapshotAt,
  checks,
  differences,
  differencesTotal,
  inFlight,
  inFlightTotal,
}: ReconciliationReport): void {
  printRecord({ snapshotAt, differences: differencesTotal, inFlight: inFlightTotal })
  process.stdout.write('\n')
  printTable(checks, [
    ['check', ({ check }) => check],
    ['compared', ({ compared }) => compared],
    ['differences', (row) => row.differences],
  ])
  if (differences.length > 0) {
    process.stdout.write('\ndifferences\n')
    printTable(differences, [
      ['check', ({ check }) => check],
      ['subject', ({ subject }) => subject],
      ['expected', ({ expected }) => expected],
      ['actual', ({ actual }) => actual],
      ['what it means', ({ explanation }) => explanation],
    ])
  }
  if (inFlight.length > 0) {
    process.stdout.write('\nin flight\n')
    printTable(inFlight, [
      ['service', ({ service }) => service],
      ['command', ({ name }) => name],
      ['subject', ({ subject }) => subject],
      ['seconds', ({ ageSeconds }) => ageSeconds],
    ])
  }
}
