// The URL of the sandbox's webhooks is set as a person of the team sets it, and put back at the end.
import { type Input, type Operation, operations, type Reply } from '@backoffice/contracts'
import { type StackDescription, StackPerson } from '@backoffice/local-stack'
import { ConsoleClient } from '@backoffice/team-cli/console-client'
import { newOperationId } from '@backoffice/team-cli/session'

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
export async function borrowUrl(stack: StackDescription, name: string, url: string) {
  const call = teamOf(stack)
  const { id: operatorId } = await call(operations.gateway.getOperator, { name })
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
