import { operations } from '@backoffice/contracts'
import { type Command, Option } from 'commander'
import {
  type CommonOptions,
  changing,
  common,
  confirm,
  environment,
  integer,
  irreversible,
  reasonOf,
  run,
} from '../leaf.ts'
import { printRecord, printTable } from '../output.ts'
import { printTransitions } from '../transitions.ts'

const { withdrawalQueue, locateWithdrawal, showWithdrawal, decideWithdrawal } = operations.payments

const decisions = {
  approve: 'Approve a withdrawal under review; it waits for its payment',
  reject: 'Reject a withdrawal under review; its money is free again',
  pay: 'Record that an approved withdrawal was paid: the wallet is debited',
  fail: 'Record that the payment of an approved withdrawal failed; its money is free again',
} as const

interface QueueOptions extends CommonOptions {
  readonly operator?: string
  readonly env: string
  readonly status?: 'under_review' | 'approved'
  readonly after?: string
  readonly limit: number
}

export function addWithdrawals(root: Command): void {
  const withdrawals = root.command('withdrawals').description('Withdrawals: the review queue and its decisions')
  common(withdrawals.command('queue'))
    .description('What waits for the team, oldest first')
    .option('--operator <name>')
    .option('--env <environment>', 'sandbox or production', environment, 'production')
    .addOption(new Option('--status <status>').choices(['under_review', 'approved']).default('under_review'))
    .option('--after <withdrawalId>', 'go on after this one')
    .option('--limit <n>', 'at most', integer('--limit'), 50)
    .action((options: QueueOptions) =>
      run(
        options,
        async (session) => {
          const brand =
            options.operator === undefined ? {} : { brandId: (await session.brand(options.operator, options.env)).id }
          const { status, after, limit } = options
          const filter = { ...(status === undefined ? {} : { status }), ...(after === undefined ? {} : { after }) }
          return (await session.ask(withdrawalQueue, { ...brand, ...filter, limit })).data
        },
        (rows) =>
          printTable(rows, [
            ['withdrawal', ({ id }) => id],
            ['environment', (row) => row.environment],
            ['amount', ({ amount, currency }) => `${amount} ${currency}`],
            ['available', ({ available }) => available],
            ['destination', ({ method, destination }) => `${method} ${destination}`],
            ['player', ({ playerId }) => playerId],
            [
              'player status',
              ({ playerStatus, selfExcluded }) => (selfExcluded ? `${playerStatus}, self-excluded` : playerStatus),
            ],
            ['kyc', ({ kycStatus }) => kycStatus],
            ['created', ({ createdAt }) => createdAt],
          ]),
      ),
    )
  common(withdrawals.command('show'))
    .description('Show a withdrawal with its history')
    .argument('<withdrawalId>')
    .action((withdrawalId: string, options: CommonOptions) =>
      run(
        options,
        async (session) => {
          const { brandId } = await session.ask(locateWithdrawal, { id: withdrawalId })
          return session.ask(showWithdrawal, { brandId, withdrawalId })
        },
        ({ transitions, ...withdrawal }) => {
          printRecord(withdrawal)
          printTransitions(transitions)
        },
      ),
    )
  for (const [decision, description] of Object.entries(decisions) as [keyof typeof decisions, string][]) {
    irreversible(changing(withdrawals.command(decision)))
      .description(description)
      .argument('<withdrawalId>')
      .action(async (withdrawalId: string, options: CommonOptions) => {
        // An approval can still be followed by a failure; the other decisions are final.
        if (decision !== 'approve') await confirm(options, `${decision} ${withdrawalId}?`)
        await run(
          options,
          async (session) => {
            const { brandId } = await session.ask(locateWithdrawal, { id: withdrawalId })
            return session.act(
              decideWithdrawal,
              { brandId, withdrawalId, decision, ...reasonOf(options) },
              options.operationId,
            )
          },
          printRecord,
        )
      })
  }
}
