// npm run listen: the deliveries of the sandbox that `npm start` runs, on this machine. The sandbox's URL is set as a
// person of the team sets it, and put back at the end.
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { type Input, type Operation, operations, type Reply } from '@backoffice/contracts'
import { defaultStackFolder, readStack, type StackDescription, StackPerson, stackFileIn } from '@backoffice/dev-stack'
import { ConsoleClient } from '@backoffice/team/console-client'
import { newOperationId } from '@backoffice/team/session'
import { BackOfficeClient } from '../src/client.ts'
import {
  keysHelp,
  listenOptions,
  optionsHelp,
  run,
  secretsInEnvironment,
  settingsFrom,
  triggerHelp,
} from '../src/listen/program.ts'
import { eventToTrigger, trigger } from '../src/listen/trigger.ts'
import { BorrowedEndpoint } from './borrowed-endpoint.ts'

const usage = `npm run listen -- [options]

Receives the webhooks of the sandbox that npm start runs, verifies each, and prints it. The URL of the sandbox is set to
this program, and put back when it ends. STACK_JSON names the stack.json of another stack.

${optionsHelp.replace('of 127.0.0.1', 'of 127.0.0.1 (any free one unless said)')}
  --resend           have the last delivery of the sandbox sent again at the start

${keysHelp}

${triggerHelp('')}

WEBHOOK_SECRET is the secret if it is not that of stack.json any more. For a sandbox that is not on this machine, see
packages/client/README.md.`

/** Calls as a person of the stack, who needs no password. */
function teamOf({ consoleUrl, issuer, people: [person] }: StackDescription) {
  if (person === undefined) throw new Error('the stack has no people')
  const client = new ConsoleClient(consoleUrl, new StackPerson({ issuer, consoleUrl, person, tool: 'command line' }))
  return <O extends Operation>(operation: O, input: Input<O>): Promise<Reply<O>> =>
    client.call(operation, { input, operationId: newOperationId() })
}

async function main(): Promise<void> {
  const options = { ...listenOptions, resend: { type: 'boolean', default: false } } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  if (values.help) return void process.stdout.write(`${usage}\n`)
  if (values.resend && values.latest) throw new Error('--resend has an event sent that --latest passes over')
  const settings = settingsFrom(values)
  const triggered = eventToTrigger(positionals)
  const stackFile = process.env.STACK_JSON ?? stackFileIn(defaultStackFolder)
  const stack = readStack(stackFile)
  const [operator] = stack.operators
  if (operator === undefined) throw new Error('the stack has no operator')
  if (triggered !== undefined) {
    const { key, secret } = operator.sandbox
    const client = new BackOfficeClient({ baseUrl: stack.baseUrl, key, secret })
    return void process.stdout.write(await trigger(client, triggered))
  }
  const given = secretsInEnvironment()
  const call = teamOf(stack)
  const { id: operatorId } = await call(operations.gateway.getOperator, { name: operator.name })
  const endpoint = { operatorId, environment: 'sandbox' } as const

  const resendLast = async () => {
    const { data } = await call(operations.webhooks.listDeliveries, { ...endpoint, limit: 1 })
    const [last] = data
    if (last === undefined) process.stdout.write('There is no delivery to send again yet.\n')
    else
      await call(operations.webhooks.resendDelivery, {
        id: last.id,
        seen: { type: last.type },
        reason: 'npm run listen',
      })
  }

  await run({
    settings,
    secrets: given.length > 0 ? given : [operator.sandbox.webhookSecret],
    async attach(url) {
      const keptIn = join(dirname(resolve(stackFile)), 'listen.json')
      const borrowed = await BorrowedEndpoint.borrow({ operatorId, call, keptIn }, url)
      process.stdout.write(
        `Webhooks of ${operator.name}'s sandbox come to ${url}. r sends the last event again, Ctrl-C ends.\n${borrowed.plan}\n`,
      )
      return async () => {
        const now = await borrowed.giveBack().catch((error: Error) => {
          const until = 'The next npm run listen puts it back, or npm run team -- webhook set'
          throw new Error(`The URL of the sandbox could not be put back: ${error.message}\n${until}.`)
        })
        process.stdout.write(`\n${now}\n`)
      }
    },
    ...(values.resend ? { onAttached: resendLast } : {}),
  })
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
