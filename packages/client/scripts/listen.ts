// npm run listen: the deliveries of the sandbox that `npm start` runs, on this machine. The sandbox's URL is set as a
// person of the team sets it, and put back at the end.
import { type Input, type Operation, operations, type Reply } from '@backoffice/contracts'
import { defaultStackFolder, readStack, type StackDescription, StackPerson, stackFileIn } from '@backoffice/local-stack'
import { ConsoleClient } from '@backoffice/team-cli/console-client'
import { newOperationId } from '@backoffice/team-cli/session'
import { BackOfficeClient } from '../src/client.ts'
import { keysHelp, optionsHelp, runProgram, secretsInEnvironment, triggerHelp } from '../src/listen/program.ts'

const usage = `npm run listen -- [options]

Receives the webhooks of the sandbox that npm start runs, verifies each, and prints it. The URL of the sandbox is set to
this program, and put back when it ends. STACK_JSON names the stack.json of another stack.

${optionsHelp.replace('of 127.0.0.1', 'of 127.0.0.1 (any free one unless said)')}

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

const { setWebhookUrl, showWebhook, disableWebhook } = operations.webhooks
const reason = 'npm run listen'

/**
 * Has the sandbox's deliveries sent to this URL.
 * @returns what it was, in words, and what puts it back and says so, unless somebody has changed it meanwhile
 */
async function borrow(call: ReturnType<typeof teamOf>, operatorId: string, url: string) {
  const endpoint = { operatorId, environment: 'sandbox' } as const
  const former = await call(showWebhook, endpoint)
  const words = (enabled: boolean) => `${former.url}${enabled ? '' : ', which is disabled,'}`
  await call(setWebhookUrl, { ...endpoint, url, seen: { url: former.url }, reason })
  const plan =
    former.url === null
      ? 'They went nowhere before. At the end the endpoint is disabled.'
      : `They went to ${words(former.enabled)} before. At the end they do so again.`
  const giveBack = async (): Promise<string> => {
    const current = await call(showWebhook, endpoint)
    if (current.url !== url) return `They go to ${current.url}: somebody has changed it meanwhile.`
    if (former.url !== null) await call(setWebhookUrl, { ...endpoint, url: former.url, seen: { url }, reason })
    // What somebody has disabled meanwhile stays so. Nothing takes a URL away: a disabled endpoint gets nothing either.
    const isEnabled = former.enabled && current.enabled
    if (former.url === null || !isEnabled) {
      const why = (current.enabled ? former : current).disabledReason ?? reason
      await call(disableWebhook, { ...endpoint, seen: { url: former.url ?? url }, reason: why })
    }
    return former.url === null ? 'The endpoint is disabled.' : `They go to ${words(isEnabled)} again.`
  }
  return { plan, giveBack }
}

const stack = () => readStack(process.env.STACK_JSON ?? stackFileIn(defaultStackFolder))
function operatorOf({ operators: [operator] }: StackDescription) {
  if (operator === undefined) throw new Error('the stack has no operator')
  return operator
}

await runProgram({
  usage,
  client() {
    const { key, secret } = operatorOf(stack()).sandbox
    return new BackOfficeClient({ baseUrl: stack().baseUrl, key, secret })
  },
  secrets() {
    const given = secretsInEnvironment()
    return given.length > 0 ? given : [operatorOf(stack()).sandbox.webhookSecret]
  },
  async attach(url) {
    const { name } = operatorOf(stack())
    const call = teamOf(stack())
    const { id } = await call(operations.gateway.getOperator, { name })
    const { plan, giveBack } = await borrow(call, id, url)
    process.stdout.write(
      `Webhooks of ${name}'s sandbox come to ${url}. r sends the last event again, Ctrl-C ends.\n${plan}\n`,
    )
    return async () => {
      const now = await giveBack().catch((error: Error) => {
        throw new Error(`The URL of the sandbox could not be put back: ${error.message}`)
      })
      process.stdout.write(`\n${now}\n`)
    }
  },
})
