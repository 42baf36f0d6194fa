import { readFileSync } from 'node:fs'
import { importSessionKey, MachineSigner, PersonSigner, type TeamSigner } from '@backoffice/team-identity'
import { ConsoleClient } from '../console-client.ts'
import { say } from '../output.ts'
import { Session } from '../session.ts'
import { type KeptSession, personOf, readSession } from './session-file.ts'

export interface ConnectionOptions {
  /** A person of the development stack. */
  readonly as?: string
  /** The address of a console. */
  readonly console?: string
}

/** The console to call, and who calls. */
export interface Connection {
  readonly console: string
  readonly client: ConsoleClient
  /** For people: the audit trail may have another name. */
  readonly name: string
  readonly session: Session
}

type Stack = Awaited<ReturnType<typeof runningStack>>

/**
 * Whose calls these are: those of a machine, if its key is in the environment; of a person of the development stack, if
 * one runs here and no other console is named; else of whoever has logged in.
 */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  const named = namedConsole(options)
  const { TEAM_MACHINE_NAME, TEAM_MACHINE_KEY_FILE } = process.env
  const stack = named === undefined ? await runningStack() : undefined
  const kept = await readSession()
  if (TEAM_MACHINE_NAME !== undefined && TEAM_MACHINE_KEY_FILE !== undefined) {
    const console = named ?? stack?.consoleUrl
    if (console === undefined) throw new Error('TEAM_CONSOLE_URL: is required for a machine')
    const signer = await machineSigner(TEAM_MACHINE_NAME, TEAM_MACHINE_KEY_FILE)
    return connection({ console, signer, name: TEAM_MACHINE_NAME })
  }
  if (stack !== undefined) {
    if (kept !== undefined && kept.console !== stack.consoleUrl)
      say(`at the console of npm start; your login is used with --console ${kept.console}\n`)
    return asStackPerson(stack, options.as ?? process.env.TEAM_USER ?? ofStack(kept, stack))
  }
  if (options.as !== undefined)
    throw new Error("--as chooses a person on a developer's machine only: no stack runs here")
  if (kept === undefined || (named !== undefined && kept.console !== named))
    throw new Error(
      `you are not logged in${named === undefined ? '' : ` at ${named}`}: npm run team -- login --console <address>`,
    )
  const { console, idToken, key } = kept
  const signer = new PersonSigner({ idToken, key, tool: 'command line' })
  return connection({ console, signer, name: personOf(idToken).name })
}

/** The console that was named, without a path. */
export function namedConsole({ console = process.env.TEAM_CONSOLE_URL }: ConnectionOptions): string | undefined {
  return console === undefined ? undefined : originOf(console)
}

/** @throws when it is not an address that may be given an ID token */
function originOf(address: string): string {
  const url = URL.parse(address)
  const isLoopback = url !== null && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)
  if (url === null || (url.protocol !== 'https:' && !(isLoopback && url.protocol === 'http:')))
    throw new Error(`the address of a console begins with https://, not ${address}`)
  return url.origin
}

/** What `npm start` runs on this machine. */
export async function runningStack() {
  const stack = await import('@backoffice/dev-stack').catch((error: NodeJS.ErrnoException) => {
    // An image has no development stack in it.
    if (error.code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  })
  if (stack === undefined) return undefined
  try {
    const { consoleUrl, issuer } = stack.readStack()
    const identity = stack.identityEnvironment(issuer)
    return { consoleUrl, issuer, identity, StackPerson: stack.StackPerson, users: stack.teamUsers }
  } catch (error) {
    // The person said where it is, so they must hear that it is not.
    if (process.env.STACK_JSON !== undefined) throw error
    return undefined
  }
}

/** Whoever logged in at the stack's console, or else its first person. */
function ofStack(kept: KeptSession | undefined, { consoleUrl, users }: NonNullable<Stack>): string {
  const somebody = kept?.console === consoleUrl ? personOf(kept.idToken).subject : undefined
  return somebody ?? users[0] ?? ''
}

/** Nobody has to log in on a developer's machine: the provider there asks for no password. */
function asStackPerson({ consoleUrl, issuer, StackPerson, users }: NonNullable<Stack>, name: string): Connection {
  const person = users.find((user) => user === name)
  if (person === undefined) throw new Error(`the stack knows no person "${name}": it has ${users.join(', ')}`)
  const signer = new StackPerson({ issuer, person, tool: 'command line' })
  return connection({ console: consoleUrl, signer, name: person, renew: () => signer.renew() })
}

async function machineSigner(name: string, keyFile: string): Promise<TeamSigner> {
  const { privateKey } = await importSessionKey(JSON.parse(readFileSync(keyFile, 'utf8')))
  return new MachineSigner({ name, privateKey })
}

interface Parts {
  readonly console: string
  readonly signer: TeamSigner
  readonly name: string
  readonly renew?: () => void
}

function connection({ console, signer, name, renew }: Parts): Connection {
  const client = new ConsoleClient(console, signer)
  return { console, client, name, session: new Session(client, renew) }
}
