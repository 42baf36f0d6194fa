// Where the API is and who we are: from the environment, or from the stack that `npm start` runs on this machine.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface Stack {
  readonly baseUrl: string
  readonly operators: readonly [{ readonly sandbox: Record<'key' | 'secret' | 'webhookSecret', string> }]
}

const fromStack = {
  BASE_URL: (stack: Stack) => stack.baseUrl,
  OPERATOR_KEY: (stack: Stack) => stack.operators[0].sandbox.key,
  OPERATOR_SECRET: (stack: Stack) => stack.operators[0].sandbox.secret,
  WEBHOOK_SECRET: (stack: Stack) => stack.operators[0].sandbox.webhookSecret,
}

/** @throws the variable is not set, and no stack runs here. */
export function setting(name: keyof typeof fromStack): string {
  return process.env[name] ?? fromStack[name](readStack(name))
}

function readStack(missing: string): Stack {
  const file = process.env.STACK_JSON ?? fileURLToPath(new URL('../.stack/stack.json', import.meta.url))
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new Error(`Set ${missing}, or run npm start: there is no ${file}.`, { cause })
  }
}
