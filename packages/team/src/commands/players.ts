import { operations, playerStatuses } from '@backoffice/contracts'
import { type Command, Option } from 'commander'
import {
  type BrandOptions,
  type CommonOptions,
  changing,
  common,
  confirm,
  integer,
  irreversible,
  moment,
  ofBrand,
  reasonOf,
  run,
} from '../leaf.ts'
import { printRecord, printTable } from '../output.ts'

const { locatePlayer, showPlayer, listPlayers, setPlayerStatus, selfExcludePlayer, setDailyLimit } = operations.players

export function addPlayers(root: Command): void {
  const players = root.command('players').description('Players: status, self-exclusion, limits')
  addReads(players)
  changing(players.command('status'), { reason: 'required' })
    .description('Change the status')
    .argument('<playerId>')
    .argument('<status>', playerStatuses.join(', '))
    .action((playerId: string, status: string, options: CommonOptions & { reason: string }) =>
      run(
        options,
        async (session) => {
          const next = playerStatuses.find((candidate) => candidate === status)
          if (next === undefined) throw new Error(`the status is one of ${playerStatuses.join(', ')}`)
          const { brandId } = await session.ask(locatePlayer, { id: playerId })
          return session.act(
            setPlayerStatus,
            { brandId, playerId, status: next, reason: options.reason },
            options.operationId,
          )
        },
        printRecord,
      ),
    )
  irreversible(changing(players.command('self-exclude')))
    .description('Exclude a player at its own wish, until a time or for good. It can be made longer, never shorter.')
    .argument('<playerId>')
    .option('--until <time>', 'date or ISO 8601 time; for good when absent', moment)
    .action(async (playerId: string, options: CommonOptions & { until?: string }) => {
      await confirm(
        options,
        `Exclude ${playerId} ${options.until === undefined ? 'for good' : `until ${options.until}`}?`,
      )
      await run(
        options,
        async (session) => {
          const { brandId } = await session.ask(locatePlayer, { id: playerId })
          return session.act(
            selfExcludePlayer,
            { brandId, playerId, until: options.until ?? null, ...reasonOf(options) },
            options.operationId,
          )
        },
        printRecord,
      )
    })
  changing(players.command('limit'))
    .description('Set the daily deposit limit. Lowering holds at once, raising or removing after 24 hours.')
    .argument('<playerId>')
    .argument('<amount>', 'for example 200.00, or none')
    .action((playerId: string, amount: string, options: CommonOptions) =>
      run(
        options,
        async (session) => {
          const { brandId } = await session.ask(locatePlayer, { id: playerId })
          const dailyDepositLimit = amount === 'none' ? null : amount
          return session.act(
            setDailyLimit,
            { brandId, playerId, dailyDepositLimit, ...reasonOf(options) },
            options.operationId,
          )
        },
        printRecord,
      ),
    )
}

function addReads(players: Command): void {
  common(players.command('show'))
    .description('Show a player with documents and history')
    .argument('<playerId>')
    .action((playerId: string, options: CommonOptions) =>
      run(
        options,
        async (session) => {
          const { brandId } = await session.ask(locatePlayer, { id: playerId })
          return session.ask(showPlayer, { brandId, playerId })
        },
        ({ submissions, changes, ...player }) => {
          printRecord(player)
          process.stdout.write('\ndocuments\n')
          printTable(submissions, [
            ['at', ({ submittedAt }) => submittedAt],
            ['type', ({ documentType }) => documentType],
            ['reference', ({ reference }) => reference],
          ])
          process.stdout.write('\nhistory\n')
          printTable(changes, [
            ['at', ({ at }) => at],
            ['who', ({ actor }) => actor],
            ['what', ({ field }) => field],
            ['from', ({ from }) => from],
            ['to', ({ to }) => to],
            ['why', ({ reason }) => reason],
          ])
        },
      ),
    )
  ofBrand(common(players.command('list')))
    .description("List a brand's players, newest first")
    .option('--external-id <id>')
    .addOption(new Option('--status <status>').choices(playerStatuses))
    .option('--limit <n>', 'at most', integer('--limit'), 50)
    .option('--before <playerId>', 'go on below this player')
    .action(
      (
        options: BrandOptions & {
          externalId?: string
          status?: (typeof playerStatuses)[number]
          limit: number
          before?: string
        },
      ) =>
        run(
          options,
          async (session) => {
            const { id: brandId } = await session.brand(options.operator, options.env)
            const { externalId, status, before, limit } = options
            const filter = {
              ...(externalId === undefined ? {} : { externalId }),
              ...(status === undefined ? {} : { status }),
              ...(before === undefined ? {} : { before }),
            }
            return (await session.ask(listPlayers, { brandId, limit, ...filter })).data
          },
          (rows) =>
            printTable(rows, [
              ['player', ({ id }) => id],
              ['externalId', ({ externalId }) => externalId],
              ['name', ({ name }) => name],
              ['status', ({ status }) => status],
              ['kyc', ({ kycStatus }) => kycStatus],
              ['limit', ({ dailyDepositLimit }) => dailyDepositLimit],
              ['created', ({ createdAt }) => createdAt],
            ]),
        ),
    )
}
