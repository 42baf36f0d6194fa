import { kycDecisions, operations } from '@backoffice/contracts'
import { type Command, Option } from 'commander'
import { type CommonOptions, changing, common, environment, integer, reasonOf, run } from '../leaf.ts'
import { printRecord, printTable } from '../output.ts'

const { kycQueue, decideKyc, locatePlayer } = operations.players

export function addKyc(root: Command): void {
  const kyc = root.command('kyc').description('Identity checks')
  common(kyc.command('queue'))
    .description('Players whose documents wait for a decision, the longest wait first')
    .option('--operator <name>')
    .option('--env <environment>', 'sandbox or production', environment, 'production')
    .option('--limit <n>', 'at most', integer('--limit'), 100)
    .action((options: CommonOptions & { operator?: string; env: string; limit: number }) =>
      run(
        options,
        async (session) => {
          const brand =
            options.operator === undefined ? {} : { brandId: (await session.brand(options.operator, options.env)).id }
          return (await session.ask(kycQueue, { ...brand, limit: options.limit })).data
        },
        (rows) =>
          printTable(rows, [
            ['player', ({ playerId }) => playerId],
            ['name', ({ name }) => name],
            ['environment', (row) => row.environment],
            ['status', ({ kycStatus }) => kycStatus],
            ['document', ({ latestDocumentType }) => latestDocumentType],
            ['reference', ({ latestReference }) => latestReference],
            ['documents', ({ submissions }) => submissions],
            ['waiting since', ({ waitingSince }) => waitingSince],
          ]),
      ),
    )
  changing(kyc.command('decide'))
    .description('Decide an identity check')
    .argument('<playerId>')
    .argument('[status]', kycDecisions.join(', '))
    .addOption(new Option('--status <status>').choices(kycDecisions))
    .action((playerId: string, status: string | undefined, options: CommonOptions & { status?: string }) =>
      run(
        options,
        async (session) => {
          const decided = kycDecisions.find((candidate) => candidate === (status ?? options.status))
          if (decided === undefined) throw new Error(`the decision is one of ${kycDecisions.join(', ')}`)
          const { brandId } = await session.ask(locatePlayer, { id: playerId })
          return session.act(
            decideKyc,
            { brandId, playerId, status: decided, ...reasonOf(options) },
            options.operationId,
          )
        },
        printRecord,
      ),
    )
}
