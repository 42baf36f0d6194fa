import { deliveryStates, eventKinds, operations } from '@backoffice/contracts'
import { type Command, Option } from 'commander'
import { type BrandOptions, changing, confirm, integer, irreversible, moment, ofBrand, reasonOf, run } from '../leaf.ts'
import { printRecord } from '../output.ts'

const { replayEvents } = operations.webhooks

interface ReplayOptions extends BrandOptions {
  readonly since: string
  readonly until?: string
  readonly state?: (typeof deliveryStates)[number][]
  readonly type?: (typeof eventKinds)[number]
  readonly rate?: number
}

export function addEvents(root: Command): void {
  const events = root.command('events').description('Events')
  irreversible(ofBrand(changing(events.command('replay'))))
    .description("Send a period's events again, oldest first, at a steady pace; failed and withheld ones unless said")
    .requiredOption('--since <time>', 'date or ISO 8601 time', moment)
    .option('--until <time>', 'date or ISO 8601 time', moment)
    .addOption(new Option('--state <state...>').choices(deliveryStates))
    .addOption(new Option('--type <event>').choices(eventKinds))
    .option('--rate <n>', 'per minute', integer('--rate'))
    .action(async (options: ReplayOptions) => {
      await confirm(options, `Send the events of ${options.operator} in ${options.env} since ${options.since} again?`)
      await run(
        options,
        async (session) => {
          const { id } = await session.operator(options.operator)
          const { env, since, until, state, type, rate } = options
          const input = {
            operatorId: id,
            environment: env,
            since,
            ...(until === undefined ? {} : { until }),
            ...(state === undefined ? {} : { states: state }),
            ...(type === undefined ? {} : { type }),
            ...(rate === undefined ? {} : { ratePerMinute: rate }),
            ...reasonOf(options),
          }
          return session.act(replayEvents, input, options.operationId)
        },
        printRecord,
      )
    })
}
