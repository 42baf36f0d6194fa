// npm run listen: the deliveries of the sandbox that `npm start` runs, on this machine. It is loaded in the order of need,
// and compiled once: whoever starts it waits for it.
import { execFileSync } from 'node:child_process'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { StackDescription } from '@backoffice/local-stack/stack-file'

enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/node-compile', import.meta.url)))
const { isMade, marks } = await import('./made.ts')
// Types are for whoever writes code: without them it runs as well.
if (!isMade(Object.values(marks()))) execFileSync(process.execPath, [join(import.meta.dirname, 'make-types.ts')])
const { BackOfficeClient } = await import('../src/client.ts')
const { keysHelp, optionsHelp, runProgram, secretsInEnvironment, triggerHelp } = await import(
  '../src/listen/program.ts'
)
const { defaultStackFolder, readStack, stackFileIn } = await import('@backoffice/local-stack/stack-file')

const usage = `npm run listen -- [options]

Receives the webhooks of the sandbox that npm start runs, verifies each, and prints it. The URL of the sandbox is set to
this program, and put back when it ends. STACK_JSON names the stack.json of another stack.

${optionsHelp.replace('of 127.0.0.1', 'of 127.0.0.1 (any free one unless said)')}

${keysHelp}

${triggerHelp('')}

WEBHOOK_SECRET is the secret if it is not that of stack.json any more. For a sandbox that is not on this machine, see
packages/client/README.md.`

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
    const { borrowUrl } = await import('./borrow-url.ts')
    const { plan, giveBack } = await borrowUrl(stack(), name, url)
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
