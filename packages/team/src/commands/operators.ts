import { type OperatorRecord, operations } from '@backoffice/contracts'
import type { Command } from 'commander'
import { type CommonOptions, changing, common, integer, reasonOf, run } from '../leaf.ts'
import { printRecord, printTable } from '../output.ts'

const { createOperator, listOperators, suspendOperator, activateOperator, setOperatorLimits } = operations.gateway

interface LimitOptions extends CommonOptions {
  readonly name: string
  readonly rateLimit?: number
  readonly allowIp?: string[]
}

const limits = (options: LimitOptions) => ({
  ...(options.rateLimit === undefined ? {} : { rateLimitPerMinute: options.rateLimit }),
  ...(options.allowIp === undefined ? {} : { allowedAddresses: options.allowIp }),
})

export function addOperators(root: Command): void {
  const operators = root.command('operators').description('Operators: who may call the API')
  changing(operators.command('create'))
    .description('Create an operator with a sandbox and a production pair. The secrets are shown once.')
    .requiredOption('--name <name>')
    .option('--rate-limit <n>', 'requests per minute and environment', integer('--rate-limit'))
    .option('--allow-ip <cidr...>', 'permitted addresses; any when absent')
    .action((options: LimitOptions) =>
      run(
        options,
        async (session) => {
          const input = { name: options.name, ...limits(options), ...reasonOf(options) }
          const { name, operatorId, sandbox, production } = await session.act(
            createOperator,
            input,
            options.operationId,
          )
          return { name, operatorId, sandbox, production }
        },
        ({ name, operatorId, sandbox, production }) => {
          printRecord({ name, operatorId })
          for (const [environment, pair] of Object.entries({ sandbox, production })) {
            process.stdout.write(`\n${environment} (shown once)\n`)
            printRecord(pair)
          }
        },
      ),
    )
  common(operators.command('list'))
    .description('List the operators')
    .action((options: CommonOptions) =>
      run(
        options,
        async (session) => (await session.ask(listOperators, {})).data,
        (rows) =>
          printTable(rows, [
            ['name', ({ name }) => name],
            ['id', ({ id }) => id],
            ['status', ({ status }) => status],
            ['per minute', ({ rateLimitPerMinute }) => rateLimitPerMinute],
            ['addresses', ({ allowedAddresses }) => allowedAddresses.join(' ') || 'any'],
            ['active keys', ({ credentials }) => credentials.filter(({ revokedAt }) => revokedAt === null).length],
            ['created', ({ createdAt }) => createdAt],
          ]),
      ),
    )
  common(operators.command('show'))
    .description('Show an operator with its brands and keys')
    .argument('<name>')
    .action((name: string, options: CommonOptions) => run(options, (session) => session.operator(name), showOperator))
  for (const [verb, operation] of [
    ['suspend', suspendOperator],
    ['activate', activateOperator],
  ] as const) {
    changing(operators.command(verb))
      .description(`${verb === 'suspend' ? 'Refuse' : 'Accept'} its requests, within a second`)
      .argument('[name]')
      .option('--name <name>')
      .action((argument: string | undefined, options: CommonOptions & { name?: string }) =>
        run(
          options,
          async (session) => {
            const { id } = await session.operator(nameOf(argument, options))
            return session.act(operation, { operatorId: id, ...reasonOf(options) }, options.operationId)
          },
          showOperator,
        ),
      )
  }
  changing(operators.command('limits'))
    .description('Change the rate limit or the permitted addresses')
    .argument('[name]')
    .option('--name <name>')
    .option('--rate-limit <n>', 'requests per minute and environment', integer('--rate-limit'))
    .option('--allow-ip <cidr...>', 'permitted addresses')
    .option('--allow-any-ip', 'permit every address')
    .action((argument: string | undefined, options: LimitOptions & { allowAnyIp?: boolean }) =>
      run(
        options,
        async (session) => {
          const { id } = await session.operator(nameOf(argument, options))
          const any = options.allowAnyIp ? { allowedAddresses: [] } : {}
          return session.act(
            setOperatorLimits,
            { operatorId: id, ...limits(options), ...any, ...reasonOf(options) },
            options.operationId,
          )
        },
        showOperator,
      ),
    )
}

function nameOf(argument: string | undefined, options: { readonly name?: string }): string {
  const name = argument ?? options.name
  if (name === undefined) throw new Error('name the operator')
  return name
}

function showOperator({ brands, credentials, ...operator }: OperatorRecord): void {
  printRecord(operator)
  process.stdout.write('\n')
  printTable(brands, [
    ['environment', ({ environment }) => environment],
    ['brand', ({ id }) => id],
    ['name', ({ name }) => name],
    ['currency', ({ currency }) => currency],
    ['time zone', ({ timeZone }) => timeZone],
  ])
  process.stdout.write('\n')
  printTable(credentials, [
    ['environment', ({ environment }) => environment],
    ['key', ({ key }) => key],
    ['created', ({ createdAt }) => createdAt],
    ['revoked', ({ revokedAt }) => revokedAt],
  ])
}
