import { type DeliverySummary, deliveryStates, eventKinds, operations } from '@backoffice/contracts'
import { type Command, Option } from 'commander'
import { type CommonOptions, changing, common, environment, integer, moment, reasonOf, run } from '../leaf.ts'
import { printRecord, printTable } from '../output.ts'

const { listDeliveries, showDelivery, resendDelivery } = operations.webhooks

interface ListOptions extends CommonOptions {
  readonly operator?: string
  readonly env?: 'sandbox' | 'production'
  readonly state?: (typeof deliveryStates)[number]
  readonly type?: (typeof eventKinds)[number]
  readonly since?: string
  readonly until?: string
  readonly after?: string
  readonly limit: number
}

export function addDeliveries(root: Command): void {
  const deliveries = root.command('deliveries').description('Webhook deliveries')
  common(deliveries.command('list'))
    .description('Newest first')
    .option('--operator <name>')
    .option('--env <environment>', 'sandbox or production', environment)
    .addOption(new Option('--state <state>').choices(deliveryStates))
    .addOption(new Option('--type <event>').choices(eventKinds))
    .option('--since <time>', 'date or ISO 8601 time', moment)
    .option('--until <time>', 'date or ISO 8601 time', moment)
    .option('--after <deliveryId>', 'go on after this delivery')
    .option('--limit <n>', 'at most', integer('--limit'), 50)
    .action((options: ListOptions) =>
      run(
        options,
        async (session) => {
          const { operator, env, state, type, since, until, after, limit } = options
          return session.ask(listDeliveries, {
            limit,
            ...(operator === undefined ? {} : { operatorId: (await session.operator(operator)).id }),
            ...(env === undefined ? {} : { environment: env }),
            ...(state === undefined ? {} : { state }),
            ...(type === undefined ? {} : { type }),
            ...(since === undefined ? {} : { since }),
            ...(until === undefined ? {} : { until }),
            ...(after === undefined ? {} : { after }),
          })
        },
        ({ data, nextCursor }) => {
          showList(data)
          if (nextCursor !== null) process.stdout.write(`\nmore: --after ${nextCursor}\n`)
        },
      ),
    )
  common(deliveries.command('show'))
    .description('The story of one delivery: what happened, in one sentence, then attempt by attempt')
    .argument('<id>', 'of the delivery (dlv_…) or of its event (evt_…)')
    .action((id: string, options: CommonOptions) =>
      run(
        options,
        (session) => session.ask(showDelivery, { id }),
        ({ outcome, attemptLog, body, ...delivery }) => {
          process.stdout.write(`${outcome}\n\n`)
          printRecord(delivery)
          process.stdout.write('\nattempts\n')
          printTable(attemptLog, [
            ['#', ({ number }) => number],
            ['at', ({ startedAt }) => startedAt],
            ['ms', ({ durationMs }) => durationMs],
            ['status', ({ responseStatus }) => responseStatus],
            ['error', ({ error }) => error],
            ['response', ({ responseHead }) => responseHead?.slice(0, 60)],
          ])
          process.stdout.write(`\nbody\n${body}\n`)
        },
      ),
    )
  changing(deliveries.command('resend'))
    .description('Send a delivery again at once: the same event id and body')
    .argument('<id>')
    .action((id: string, options: CommonOptions) =>
      run(
        options,
        (session) => session.act(resendDelivery, { id, ...reasonOf(options) }, options.operationId),
        printRecord,
      ),
    )
}

function showList(rows: readonly DeliverySummary[]): void {
  printTable(rows, [
    ['delivery', ({ id }) => id],
    ['event', ({ eventId }) => eventId],
    ['type', ({ type }) => type],
    ['environment', (row) => row.environment],
    ['state', ({ state }) => state],
    ['attempts', ({ attempts }) => attempts],
    ['last', ({ lastResponseStatus, lastError }) => lastResponseStatus ?? lastError],
    ['created', ({ eventCreatedAt }) => eventCreatedAt],
    ['next', ({ nextAttemptAt }) => nextAttemptAt],
  ])
}
