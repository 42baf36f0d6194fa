import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { defined, operations, Rejection, residentServices, type ServiceName } from '@backoffice/contracts'
import {
  identityFrom,
  importSessionKey,
  issuerKeys,
  MachineSigner,
  PersonSigner,
  RecordedCalls,
  sessionIn,
  type TeamSigner,
} from '@backoffice/team-access/identity'
import envPaths from 'env-paths'
import { decodeJwt } from 'jose'
import { ConsoleClient } from '../console-client.ts'
import { say } from '../output.ts'
import { newOperationId, Session } from '../session.ts'
import { forgetKey, type KeptKey, openKey } from './login-key.ts'

interface ConnectionOptions {
  /** A person of the development stack. */
  readonly as?: string
  /** The address of a console. */
  readonly console?: string
}

/** The console to call, and who calls. */
interface Connection {
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
  const kept = readSession()
  if (TEAM_MACHINE_NAME !== undefined && TEAM_MACHINE_KEY_FILE !== undefined) {
    const console = named ?? stack?.consoleUrl
    if (console === undefined) throw new Error('TEAM_CONSOLE_URL: is required for a machine')
    // A machine beside the console reaches it at another address than people do.
    // Nobody but its owner says who the people are: of them the console alone would be believed.
    const { TEAM_DEPLOYMENT: deployment = console, TEAM_ISSUER: issuer } = process.env
    const signer = await machineSigner(TEAM_MACHINE_NAME, TEAM_MACHINE_KEY_FILE, deployment)
    return connection({ console, deployment, signer, name: TEAM_MACHINE_NAME, issuer })
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
  const { console, idToken } = kept
  const signer = await signerOf(kept)
  return connection({ console, signer, name: personOf(idToken).name, issuer: decodeJwt(idToken).iss })
}

/** For the commands that call operations. */
export const openSession = async (options: ConnectionOptions): Promise<Session> => (await connect(options)).session

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
  const stack = await import('@backoffice/local-stack').catch((error: NodeJS.ErrnoException) => {
    // An image has no development stack in it.
    if (error.code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  })
  if (stack === undefined) return undefined
  try {
    const { consoleUrl, issuer } = stack.readStack()
    const identity = stack.identityEnvironment(issuer, consoleUrl)
    const starts = (service: ServiceName) =>
      !residentServices.some((one) => one === service) && stack.readStack().processes[service] === undefined
    return { consoleUrl, issuer, identity, StackPerson: stack.StackPerson, users: stack.teamUsers, starts }
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
function asStackPerson(stack: NonNullable<Stack>, name: string): Connection {
  const { consoleUrl, issuer, StackPerson, users, starts } = stack
  const person = users.find((user) => user === name)
  if (person === undefined) throw new Error(`the stack knows no person "${name}": it has ${users.join(', ')}`)
  const signer = new StackPerson({ issuer, consoleUrl, person, tool: 'command line' })
  return connection({ console: consoleUrl, signer, name: person, issuer, renew: () => signer.renew(), starts })
}

async function machineSigner(name: string, keyFile: string, deployment: string): Promise<TeamSigner> {
  const { privateKey } = await importSessionKey(JSON.parse(readFileSync(keyFile, 'utf8')))
  return new MachineSigner({ name, privateKey, deployment })
}

interface Parts {
  readonly console: string
  /** What calls are signed for, where it is not the console's address. */
  readonly deployment?: string
  readonly signer: TeamSigner
  readonly name: string
  /** Where people log in, as this person did. A machine may not know. */
  readonly issuer?: string | undefined
  readonly renew?: () => void
  readonly starts?: (service: ServiceName) => boolean
}

function connection({ console, deployment = console, signer, name, issuer, renew, starts }: Parts): Connection {
  const client = new ConsoleClient(console, signer)
  const recorded = async () => {
    const { identity: texts } = await client.whoami(newOperationId())
    const identity = identityFrom({ ...texts, TEAM_ISSUER: issuer, TEAM_DEPLOYMENT: deployment })
    return new RecordedCalls([{ identity, keys: issuerKeys(identity) }])
  }
  const session = new Session(client, defined({ renew, starts, recorded: issuer === undefined ? undefined : recorded }))
  return { console, client, name, session }
}

/** A login that is kept between commands. */
export interface KeptSession {
  /** The address of the console that it is for. */
  readonly console: string
  readonly idToken: string
  readonly key: KeptKey
}

/** How keys of logins are called where they are kept. */
export const keyName = (thumbprint: string): string => `login-${thumbprint}`

const keyNameOf = ({ idToken }: KeptSession): string => keyName(sessionIn(idToken, 0).thumbprint)

async function signerOf(kept: KeptSession): Promise<PersonSigner> {
  const { console: deployment, idToken } = kept
  const key = await importSessionKey(await openKey(keyNameOf(kept), kept.key))
  // For the address that the person typed: whatever answers there cannot name another deployment.
  return new PersonSigner({ idToken, key, deployment, tool: 'command line' })
}

/** In the folder of the person's own settings, or where TEAM_SESSION_FILE says. */
const sessionFile = (): string =>
  process.env.TEAM_SESSION_FILE ?? join(envPaths('backoffice-team', { suffix: '' }).config, 'session.json')

export function readSession(): KeptSession | undefined {
  try {
    return JSON.parse(readFileSync(sessionFile(), 'utf8')) as KeptSession
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

export async function writeSession(session: KeptSession): Promise<void> {
  const file = sessionFile()
  const former = readSession()
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  // As a new file, so that it was never readable for others, and as a whole.
  const draft = `${file}.${process.pid}.new`
  writeFileSync(draft, `${JSON.stringify(session, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, file)
  if (former !== undefined) await forgetKey(keyNameOf(former), former.key)
}

/** Forgets a login here, and ends it at every service; or all of its person. One that was ended before is no fault. */
export async function endSession(
  session: KeptSession,
  { everywhere }: { readonly everywhere: boolean },
): Promise<void> {
  const input = everywhere ? {} : { session: sessionIn(session.idToken, 0).thumbprint }
  // It is opened while it is there. Whatever the console says, nothing is left here.
  const [opened] = await Promise.allSettled([signerOf(session)])
  rmSync(sessionFile(), { force: true })
  await forgetKey(keyNameOf(session), session.key)
  try {
    if (opened.status === 'rejected') throw opened.reason
    const client = new ConsoleClient(session.console, opened.value)
    await client.call(operations.gateway.endSession, { input, operationId: newOperationId() })
  } catch (error) {
    if (error instanceof Rejection && error.code === 'LOGIN_REQUIRED') return
    throw new Error('the login is forgotten here, and was not ended at the services', { cause: error })
  }
}

/** What the ID token says about the person, as this program shows it. The services believe only what they verify. */
export function personOf(idToken: string) {
  const { sub, name, email, auth_time: authTime, iat } = decodeJwt(idToken)
  const since = typeof authTime === 'number' ? authTime : iat
  return {
    subject: sub ?? '',
    name: String(email ?? name ?? sub ?? ''),
    loggedInAt: since === undefined ? null : new Date(since * 1_000).toISOString(),
  }
}
