import { depositStatuses, operations } from '@backoffice/contracts'
import { type Command, Option } from 'commander'
import { type BrandOptions, type CommonOptions, common, integer, ofBrand, run } from '../leaf.ts'
import { printRecord, printTable } from '../output.ts'
import { printTransitions } from '../transitions.ts'

const { listDeposits, locateDeposit, showDeposit } = operations.payments

interface ListOptions extends BrandOptions {
  readonly player?: string
  readonly status?: (typeof depositStatuses)[number]
  readonly before?: string
  readonly limit: number
}

export function addDeposits(root: Command): void {
  const deposits = root.command('deposits').description('Deposits')
  ofBrand(common(deposits.command('list')))
    .description("List a brand's deposits, newest first")
    .option('--player <playerId>')
    .addOption(new Option('--status <status>').choices(depositStatuses))
    .option('--before <depositId>', 'go on below this deposit')
    .option('--limit <n>', 'at most', integer('--limit'), 50)
    .action((options: ListOptions) =>
      run(
        options,
        async (session) => {
          const { id: brandId } = await session.brand(options.operator, options.env)
          const { player, status, before, limit } = options
          const filter = {
            ...(player === undefined ? {} : { playerId: player }),
            ...(status === undefined ? {} : { status }),
            ...(before === undefined ? {} : { before }),
          }
          return (await session.ask(listDeposits, { brandId, limit, ...filter })).data
        },
        (rows) =>
          printTable(rows, [
            ['deposit', ({ id }) => id],
            ['player', ({ playerId }) => playerId],
            ['amount', ({ amount, currency }) => `${amount} ${currency}`],
            ['status', ({ status }) => status],
            ['method', ({ method }) => method],
            ['reference', ({ externalReference }) => externalReference],
            ['created', ({ createdAt }) => createdAt],
          ]),
      ),
    )
  common(deposits.command('show'))
    .description('Show a deposit with its history')
    .argument('<depositId>')
    .action((depositId: string, options: CommonOptions) =>
      run(
        options,
        async (session) => {
          const { brandId } = await session.ask(locateDeposit, { id: depositId })
          return session.ask(showDeposit, { brandId, depositId })
        },
        ({ transitions, ...deposit }) => {
          printRecord(deposit)
          printTransitions(transitions)
        },
      ),
    )
}
