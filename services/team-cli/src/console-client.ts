import {
  defined,
  type ErrorCode,
  errorCatalogue,
  headerNames,
  type Input,
  isReplySealed,
  type Operation,
  Rejection,
  type Reply,
  teamHeaders,
} from '@backoffice/contracts'
import { limitsMs, patiently } from '@backoffice/process/limits'
import { type CallToProve, newReplyKey, type StrongLogin, type TeamSigner } from '@backoffice/team-access/identity'

/** How much longer than the console this program waits, so that the console's answer comes first. */
const longerMs = 5_000

/** Nothing was sent, or nobody knows whether it arrived: the same call with the same operation id finishes it. */
export class ConsoleUnreachable extends Error {
  override readonly name = 'ConsoleUnreachable'
}

/** Calls operations of the team. */
export interface Caller {
  /** @throws {Rejection} what the service or the console refused with */
  call<O extends Operation>(operation: O, call: TeamCall<O>): Promise<Reply<O>>
}

export interface TeamCall<O extends Operation> {
  readonly input: Input<O>
  readonly operationId: string
  /** The proposal of somebody else that the call carries out. */
  readonly approves?: string
}

/** Calls over HTTPS: the console passes on what it gets, and the services verify who signed it. */
export class ConsoleClient implements Caller {
  readonly #url: string
  readonly #signer: TeamSigner

  constructor(url: string, signer: TeamSigner) {
    this.#url = url
    this.#signer = signer
  }

  async call<O extends Operation>(operation: O, call: TeamCall<O>): Promise<Reply<O>> {
    const { service, id, timeoutMs } = operation
    const key = isReplySealed(operation, call.input) ? await newReplyKey() : undefined
    const signed = { operation: `${service}.${id}`, ...call, ...defined({ sealTo: key?.sealTo }) }
    const reply = await this.#post(`/calls/${service}/${id}`, signed, timeoutMs && patiently(timeoutMs))
    return (key === undefined ? reply : await key.open(reply)) as Reply<O>
  }

  /** Who the console takes this caller for. */
  async whoami(operationId: string): Promise<WhoAmI> {
    const call = { operation: 'console.whoami', operationId, input: {} }
    return (await this.#post('/whoami', call)) as WhoAmI
  }

  async #post(path: string, call: CallToProve, timeoutMs = limitsMs.call): Promise<unknown> {
    const { idToken, proof } = await this.#signer.sign(call)
    const response = await send(new URL(path, this.#url), timeoutMs, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        ...(idToken === undefined ? {} : { Authorization: `Bearer ${idToken}` }),
        [teamHeaders.proof]: proof,
        [headerNames.operationId]: call.operationId,
        ...(call.approves === undefined ? {} : { [headerNames.approves]: call.approves }),
      },
      body: JSON.stringify(call.input),
    })
    const reply = await bodyOf(response)
    if (response.status === 200) return reply
    throw refusalOf(reply, response)
  }
}

export interface WhoAmI {
  readonly name: string
  readonly kind: 'person' | 'machine'
  readonly roles: readonly string[]
  readonly loggedInAt: string | null
  /** Null for a machine, whose key has no end. */
  readonly endsAt: string | null
  /** Settings that say how ID tokens are read. */
  readonly identity: Readonly<Record<string, string>>
}

/** What somebody needs to know to log in at a console. */
export interface ConsoleFacts {
  readonly issuer: string
  readonly clientId: string
  readonly strongLogin: StrongLogin
  readonly version: string
}

export async function consoleFacts(url: string): Promise<ConsoleFacts> {
  const response = await send(new URL('/cli', url), limitsMs.call, {})
  const facts = (await bodyOf(response)) as Partial<ConsoleFacts>
  const { issuer, clientId, strongLogin, version = 'unknown' } = facts
  if (response.status !== 200 || issuer === undefined || clientId === undefined || strongLogin === undefined)
    throw new Error(`${url} is not a console: ${response.url} answers ${response.status}`)
  return { issuer, clientId, strongLogin, version }
}

async function send(url: URL, timeoutMs: number, init: RequestInit): Promise<Response> {
  try {
    // A signed call is for this address alone.
    return await fetch(url, {
      ...init,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs + patiently(longerMs)),
    })
  } catch (error) {
    if ((error as Error).name === 'TimeoutError')
      throw new Rejection('SERVICE_UNAVAILABLE', undefined, { cause: error })
    const { cause, message } = error as Error
    const why = cause instanceof Error ? cause.message : message
    throw new ConsoleUnreachable(`the console at ${url.origin} cannot be reached: ${why}`, { cause: error })
  }
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text()
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

function refusalOf(reply: unknown, { status, url }: Response): Error {
  const { error } = (reply ?? {}) as {
    readonly error?: { readonly code?: string; readonly message?: string; readonly details?: Record<string, unknown> }
  }
  if (error?.code === undefined) return new Error(`${new URL(url).origin} answers ${status}, and not as a console`)
  if (Object.hasOwn(errorCatalogue, error.code)) {
    const code = error.code as ErrorCode
    return Rejection.from({ ...error, code })
  }
  // A newer console may know more codes.
  return new Error(`${error.code}: ${error.message ?? ''}`)
}
