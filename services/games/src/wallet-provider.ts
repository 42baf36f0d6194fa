import { readFileSync } from 'node:fs'
import { fromMinorUnits } from '@backoffice/contracts/formats'
import { signRequest } from '@backoffice/contracts/signing'
import {
  type Clock,
  ConfigurationError,
  type Logger,
  patiently,
  pause,
  secret,
  systemTimers,
} from '@backoffice/process'
import { Type } from '@sinclair/typebox'
import type { Agent } from 'undici'
import type { StakedSession } from './storage/demonstrations.ts'

/** With the first three the game that stakes the sandbox's money is served: all of them, or none. */
export const providerSettings = {
  /** Of the providers' surface, with its prefix. */
  GAMES_PROVIDER_URL: Type.Optional(Type.String({ pattern: '^https?://[^#?]+/provider/v1$' })),
  /** A key of the sandbox. It is no secret, but it is issued and changed together with one. */
  GAMES_PROVIDER_KEY: Type.Optional(secret()),
  GAMES_PROVIDER_SECRET: Type.Optional(secret()),
  /** PEM of the authority behind that surface's certificate, where it is not a public one. */
  GAMES_PROVIDER_CA_FILE: Type.Optional(Type.String({ minLength: 1 })),
}

interface Credentials {
  readonly url: string
  readonly key: string
  readonly secret: string
  /** PEM of the authority that the house is verified under; undefined: the public ones. */
  readonly ca: string | undefined
}

/** @throws {ConfigurationError} when some of the settings are there, and not all */
export function credentialsOf(
  config: {
    readonly [Name in keyof typeof providerSettings]?: string | undefined
  },
): Credentials | undefined {
  const { GAMES_PROVIDER_URL: url, GAMES_PROVIDER_KEY: key, GAMES_PROVIDER_SECRET: secret } = config
  const { GAMES_PROVIDER_CA_FILE: caFile } = config
  if (url !== undefined && key !== undefined && secret !== undefined)
    return { url, key, secret, ca: caFile && readFileSync(caFile, 'utf8') }
  if (url === undefined && key === undefined && secret === undefined) return undefined
  throw new ConfigurationError('GAMES_PROVIDER_URL, GAMES_PROVIDER_KEY and GAMES_PROVIDER_SECRET belong together')
}

export interface WalletSpin {
  readonly session: StakedSession
  readonly gameId: string
  /** Counts from 1 in its session. Its transaction is named after it, so a number is played once. */
  readonly number: number
  /** In minor units. */
  readonly stake: bigint
  readonly win: bigint
}

/** What became of a spin. */
export type SpinAnswer =
  /** `isOld`: it had been played before it was asked for here. */
  | { readonly is: 'played'; readonly win: string; readonly balance: string; readonly isOld: boolean }
  /** For good: the number is used. */
  | { readonly is: 'refused'; readonly code: string; readonly reason: unknown }
  /** Nothing was decided on it, and nothing taken. */
  | { readonly is: 'not taken'; readonly code: string }
  /** It may have been booked: only the same spin again says so. */
  | { readonly is: 'unknown' }

export const spinName = ({ id }: Pick<StakedSession, 'id'>, number: number) => `${id}-${number}`

/** The house replies within 3 s, and a provider waits 5. */
const timeoutMs = 5_000
const replyBytesMax = 16 * 1024
/** An unknown spin is sent again after each of these, and then whoever asked is told that it is not known. */
const pausesMs = [250, 500, 1_000]
/** No attempt begins later than this after the first. */
const attemptsWithinMs = 8_000
const connectionsMax = 16

/** The public games as a provider of the house: the one game that stakes money, which is the sandbox's. */
export class WalletProvider {
  readonly #credentials: Credentials
  readonly #clock: Clock
  readonly #log: Logger
  #client: Promise<{ readonly request: typeof import('undici').request; readonly agent: Agent }> | undefined

  constructor(credentials: Credentials, { clock, log }: { readonly clock: Clock; readonly log: Logger }) {
    this.#credentials = credentials
    this.#clock = clock
    this.#log = log
  }

  /** Outcomes follow from it, so that a spin that is sent again is the same. */
  get secret(): string {
    return this.#credentials.secret
  }

  /** @throws when the house does not say it */
  async readBalance({ brandId, id }: StakedSession): Promise<string> {
    const { status, body } = await this.#send('GET', `/${brandId}/sessions/${id}`)
    if (status !== 200) throw new Error(`the house answered ${status} for a session`)
    return String(body.balance)
  }

  /**
   * The first number that was not played. The house knows, and the game keeps nothing. Numbers are used one after another, so
   * few are asked for.
   * @throws when the house does not say it
   */
  async nextNumber(session: StakedSession): Promise<number> {
    let free = 1
    while (await this.#isPlayed(session, free)) free *= 2
    let played = Math.floor(free / 2)
    while (free - played > 1) {
      const middle = Math.floor((free + played) / 2)
      if (await this.#isPlayed(session, middle)) played = middle
      else free = middle
    }
    return free
  }

  async #isPlayed(session: StakedSession, number: number): Promise<boolean> {
    const { status } = await this.#send('GET', `/${session.brandId}/transactions/bet/${spinName(session, number)}`)
    if (status === 200 || status === 404) return status === 200
    throw new Error(`the house answered ${status} for a transaction`)
  }

  /** Sends a spin until its outcome is known, for some seconds. */
  async spin(spin: WalletSpin): Promise<SpinAnswer> {
    const untilMs = systemTimers.monotonic() + patiently(attemptsWithinMs)
    let mayBeBooked = false
    for (let attempt = 0; ; attempt++) {
      const answer = await this.#spinOnce(spin)
      // An earlier attempt may have been booked, whatever refuses this one before the house looks for it.
      if (answer.is === 'unknown') mayBeBooked = true
      else if (answer.is === 'played') return { ...answer, isOld: answer.isOld && !mayBeBooked }
      else if (answer.is !== 'not taken' || !mayBeBooked) return answer
      const pauseMs = pausesMs[attempt]
      if (pauseMs === undefined || systemTimers.monotonic() + pauseMs > untilMs) return { is: 'unknown' }
      await pause(systemTimers, pauseMs)
    }
  }

  async #spinOnce({ session, gameId, number, stake, win }: WalletSpin): Promise<SpinAnswer> {
    const name = spinName(session, number)
    const request = {
      ...{ transactionId: name, roundId: name, sessionId: session.id, playerId: session.playerId, gameId },
      ...{ amount: fromMinorUnits(stake), win: fromMinorUnits(win), currency: session.currency },
    }
    try {
      const { status, body } = await this.#send('POST', `/${session.brandId}/spins`, JSON.stringify(request))
      return answerOf(status, body)
    } catch (err) {
      this.#log.warn({ err, spin: name }, 'the house did not answer a spin')
      return { is: 'unknown' }
    }
  }

  async #send(method: 'GET' | 'POST', path: string, sent = ''): Promise<{ status: number; body: HouseReply }> {
    const { url, key, secret } = this.#credentials
    const address = new URL(url + path)
    const timestamp = String(Math.floor(this.#clock.now().getTime() / 1_000))
    const signed = { method, path: address.pathname, timestamp, body: sent }
    this.#client ??= connect(this.#credentials)
    const { request, agent } = await this.#client
    const { statusCode, body } = await request(address, {
      method,
      dispatcher: agent,
      signal: AbortSignal.timeout(patiently(timeoutMs)),
      headers: {
        'X-Provider-Key': key,
        'X-Timestamp': timestamp,
        'X-Signature': signRequest(secret, signed),
        ...(method === 'POST' ? { 'Content-Type': 'application/json' } : {}),
      },
      ...(method === 'POST' ? { body: sent } : {}),
    })
    const reply = { status: statusCode, body: JSON.parse(await body.text()) as HouseReply }
    const code = reply.body.error?.code
    if (isOurFault(statusCode)) this.#log.error({ status: statusCode, code }, 'the house refuses what the games sign')
    return reply
  }
}

/** What of its replies is looked at. */
interface HouseReply {
  readonly balance?: string
  readonly win?: string
  readonly replayed?: boolean
  readonly error?: { readonly code?: string; readonly details?: { readonly retry?: string; readonly reason?: unknown } }
}

const isOurFault = (status: number) => status === 401 || status === 405 || status === 413 || status === 415

function answerOf(status: number, { win = '', balance = '', replayed = false, error }: HouseReply): SpinAnswer {
  if (status === 200) return { is: 'played', win, balance, isOld: replayed }
  const { code = '', details } = error ?? {}
  if (status >= 500 || code === '') return { is: 'unknown' }
  // What is not to be sent again was decided; but a request that is not valid is not looked at.
  if (details?.retry === 'never' && code !== 'VALIDATION_ERROR') return { is: 'refused', code, reason: details.reason }
  return { is: 'not taken', code }
}

/** Loaded by the first call, because it takes 5 MiB. */
async function connect({ ca }: Pick<Credentials, 'ca'>) {
  const { Agent, request } = await import('undici')
  const connecting = {
    connect: { timeout: patiently(timeoutMs), ca },
    connections: connectionsMax,
    maxHeaderSize: replyBytesMax,
  }
  return { request, agent: new Agent({ ...connecting, maxResponseSize: replyBytesMax }) }
}
