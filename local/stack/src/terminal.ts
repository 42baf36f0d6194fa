import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { Progress } from '@backoffice/process/progress'
import type { Person } from './identity/people.ts'
import { defaultStackFolder, type StackDescription, stackFileIn } from './stack-file.ts'

export interface StackArguments {
  readonly dir: string
  /** Of the gateway; 0 takes any free one. */
  readonly port: number
  readonly fresh: boolean
  /** With 2 the wallet has a PostgreSQL of its own. */
  readonly databases: 1 | 2
}

export const defaultPort = 8080

export const usage = `npm start -- [--dir D] [--port P] [--fresh] [--databases N]

  --dir D        keep data, logs and stack.json in D (default .stack)
  --port P       serve HTTP on port P of 127.0.0.1 (default ${defaultPort}; 0 takes any free one)
  --fresh        throw away what an earlier start left in D
  --databases N  1, or 2: the wallet has a PostgreSQL of its own; always the same for one D

POSTGRES_URL and NATS_URL use somebody else's PostgreSQL (its superuser) and nats-server (with JetStream).`

/** @throws with the usage when an argument is unknown or not well formed. */
export function parseStackArguments(args: readonly string[]): StackArguments {
  const options = {
    dir: { type: 'string', default: defaultStackFolder },
    port: { type: 'string', default: String(defaultPort) },
    fresh: { type: 'boolean', default: false },
    databases: { type: 'string', default: '1' },
  } as const
  let values: { dir: string; port: string; fresh: boolean; databases: string }
  try {
    values = parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${usage}`)
  }
  const port = Number(values.port)
  if (!/^\d{1,5}$/.test(values.port) || port > 65_535) {
    throw new Error(`--port takes a number from 0 to 65535, not "${values.port}".\n\n${usage}`)
  }
  if (!/^[12]$/.test(values.databases))
    throw new Error(`--databases takes 1 or 2, not "${values.databases}".\n\n${usage}`)
  return { dir: resolve(values.dir), port, fresh: values.fresh, databases: values.databases === '2' ? 2 : 1 }
}

/**
 * What a person needs to make a first request. The curl signs itself when it is run, so it works whenever it is pasted.
 */
export function greeting(
  stack: StackDescription,
  team: readonly Person[],
  elapsed: string,
  dir = defaultStackFolder,
): string {
  const lines = [`\nReady in ${elapsed}.\n`, `  base URL  ${stack.baseUrl}`, `  docs      ${stack.docsUrl}`]
  lines.push(`  console   ${stack.consoleUrl}`, `            log in as ${people(team)}`)
  for (const operator of stack.operators) {
    for (const environment of ['sandbox', 'production'] as const) {
      const { key, secret, webhookSecret } = operator[environment]
      lines.push(
        `\n  operator ${operator.name}, ${environment}`,
        `    key             ${key}`,
        `    secret          ${secret}`,
        `    webhook secret  ${webhookSecret}`,
      )
    }
  }
  const { name, brandId, key, secret } = stack.provider
  lines.push(
    `\n  provider ${name}, sandbox of ${stack.operators[0]?.name}`,
    `    base URL        ${stack.providerUrl}/${brandId}`,
    `    key             ${key}`,
    `    secret          ${secret}`,
  )
  const sandbox = stack.operators[0]?.sandbox
  if (sandbox !== undefined) {
    lines.push('\nA signed request to try (paste all of it):\n', signedCurl(stack.baseUrl, sandbox))
    const which = dir === defaultStackFolder ? '' : `STACK_JSON='${stackFileIn(dir)}' `
    lines.push(
      "\nIn another terminal: the sandbox's webhooks as they come, one made to happen, a way through the whole API:\n",
      ...['listen', 'listen -- trigger deposit.confirmed', 'smoke'].map((program) => `${which}npm run ${program}`),
    )
  }
  lines.push('\nCtrl-C stops everything.')
  return lines.join('\n')
}

/** Who may log in, and who has which role. */
function people(team: readonly Person[]): string {
  const everything = team.filter(({ roles }) => roles.length > 1).map(({ id }) => id)
  const others = team.filter(({ roles }) => roles.length === 1).map(({ id, roles }) => `${id} (${roles[0]})`)
  return `${everything.join(' or ')} (every role), ${others.join(', ')}`
}

/** GET /me for a POSIX shell with openssl and curl: the signature covers method, path, timestamp and the empty body. */
function signedCurl(baseUrl: string, credentials: { readonly key: string; readonly secret: string }): string {
  const path = `${new URL(baseUrl).pathname}/me`
  return [
    'TIMESTAMP=$(date +%s)',
    "BODY_SHA256=$(printf '' | openssl dgst -sha256 | sed 's/^.* //')",
    `SIGNATURE=$(printf 'GET\\n${path}\\n%s\\n%s' "$TIMESTAMP" "$BODY_SHA256" | openssl dgst -sha256 -hmac '${credentials.secret}' | sed 's/^.* //')`,
    `curl -sS --noproxy '*' '${baseUrl}/me' -H 'X-Operator-Key: ${credentials.key}' -H "X-Timestamp: $TIMESTAMP" -H "X-Signature: $SIGNATURE"; echo`,
  ].join('\n')
}

/** Shows the person at the terminal what happens, with the time that each step took. */
export class Steps {
  readonly #startedAt = performance.now()
  #progress: Progress | undefined

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const startedAt = performance.now()
    using progress = new Progress(name)
    this.#progress = progress
    progress.at('under way')
    const result = await work()
    this.say(`${name.padEnd(52)}${seconds(performance.now() - startedAt).padStart(8)}`)
    return result
  }

  say(line: string): void {
    const write = () => process.stdout.write(`${line}\n`)
    if (this.#progress === undefined) write()
    else this.#progress.above(write)
  }

  get elapsed(): string {
    return seconds(performance.now() - this.#startedAt)
  }
}

const seconds = (ms: number) => `${(ms / 1000).toFixed(2)} s`
