import { type IdOf, Rejection } from '@backoffice/contracts'
import { type Logger, measurement, retry } from '@backoffice/process'
import { Type } from '@sinclair/typebox'
import { TypeCompiler } from '@sinclair/typebox/compiler'
import { BrokenCircuitError, CircuitState, ConsecutiveBreaker, circuitBreaker, handleWhen } from 'cockatiel'
import type { Agent } from 'undici'

export interface Launch {
  /** Names the launch: if it is repeated, the provider returns the same session. */
  readonly sessionId: string
  readonly gameId: string
  readonly playerId: IdOf<'player'>
  readonly brandId: IdOf<'brand'>
  readonly currency: string
}

export interface LaunchedGame {
  readonly mode: 'real'
  readonly gameUrl: string
  readonly expiresAt: Date
  readonly tokenSha256: null
  readonly demoBalance: null
}

const launchReply = TypeCompiler.Compile(
  Type.Object({
    gameUrl: Type.String({ pattern: '^https?://[\\x21-\\x7e]+$', maxLength: 2_048 }),
    expiresAt: Type.String({ format: 'date-time' }),
  }),
)

const replyBytesMax = 16 * 1024
const attemptsMax = 2
const consecutiveFailuresMax = 5

export interface GameProviderOptions {
  /** The address of the launch API. Without it no launch is possible. */
  readonly url: string | undefined
  readonly token: string | undefined
  /** In all, for one attempt. */
  readonly timeoutMs: number
  /** How long the circuit stays open. */
  readonly openMs: number
  /** Whether a session may be opened without TLS, for development. */
  readonly allowHttp: boolean
  readonly log: Logger
}

/**
 * Asks the game provider to open a session (docs/game-providers.md). A launch is repeated once, which is safe because
 * of its session id. After five failures in a row the circuit opens, so that nobody waits for a provider that is down.
 */
export class GameProvider {
  readonly #options: GameProviderOptions
  readonly #circuit
  #client: Promise<Client> | undefined

  constructor(options: GameProviderOptions) {
    this.#options = options
    this.#circuit = circuitBreaker(
      handleWhen((error) => !(error instanceof RefusedLaunch)),
      {
        halfOpenAfter: options.openMs,
        breaker: new ConsecutiveBreaker(consecutiveFailuresMax),
      },
    )
  }

  /** Launches are refused without asking the provider. */
  get isResting(): boolean {
    return this.#circuit.state === CircuitState.Open
  }

  /** @throws {Rejection} PROVIDER_UNAVAILABLE whatever went wrong, by `deadline` at the latest */
  async launch(launch: Launch, deadline: Date): Promise<LaunchedGame> {
    const { url, log } = this.#options
    if (url === undefined) throw new Rejection('PROVIDER_UNAVAILABLE')
    const attempt = () =>
      this.#circuit
        .execute(() => this.#request(url, launch, deadline))
        .catch((err) => {
          log.warn({ err, sessionId: launch.sessionId }, 'the game provider did not open a session')
          throw err
        })
    const mayPass = (error: unknown) =>
      !(error instanceof BrokenCircuitError || error instanceof RefusedLaunch || Date.now() >= deadline.getTime())
    return retry(attempt, { while: mayPass, attemptsMax }).catch((cause) => {
      throw new Rejection('PROVIDER_UNAVAILABLE', undefined, { cause })
    })
  }

  async #request(url: string, launch: Launch, deadline: Date): Promise<LaunchedGame> {
    // A deadline for everything. The time-outs of undici are idle times, which a slow trickle of bytes never reaches.
    const { token, allowHttp } = this.#options
    const timeoutMs = Math.max(1, Math.min(this.#options.timeoutMs, deadline.getTime() - Date.now()))
    const signal = AbortSignal.timeout(timeoutMs)
    this.#client ??= connect(this.#options.timeoutMs)
    const { request, agent } = await this.#client
    const { statusCode, body } = await request(`${url.replace(/\/$/, '')}/sessions`, {
      method: 'POST',
      dispatcher: agent,
      signal,
      headers: {
        'Content-Type': 'application/json',
        'Idempotency-Key': launch.sessionId,
        ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(launch),
    })
    const text = await readBounded(body)
    if (statusCode >= 400 && statusCode < 500) throw new RefusedLaunch(`the provider answered ${statusCode}`)
    if (statusCode !== 200 && statusCode !== 201) throw new Error(`the provider answered ${statusCode}`)
    const launched = toLaunched(text)
    // Its URL is all that it takes to play for the player's money.
    if (!allowHttp && !launched.gameUrl.startsWith('https:'))
      throw new Error('the provider opened a session without TLS')
    return launched
  }
}

interface Client {
  readonly request: typeof import('undici').request
  readonly agent: Agent
}

/** Loaded by the first launch, because it takes 5 MiB. */
async function connect(timeout: number): Promise<Client> {
  const { Agent, request } = await import('undici')
  return { request, agent: new Agent({ connect: { timeout }, maxHeaderSize: replyBytesMax }) }
}

/**
 * The provider understood and refused. Asking again changes nothing, and the refusal says nothing about other launches.
 */
class RefusedLaunch extends Error {
  override readonly name = 'RefusedLaunch'
}

async function readBounded(body: AsyncIterable<Buffer> & { destroy(): unknown }): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > replyBytesMax) {
      body.destroy()
      throw new Error(`the provider's reply is longer than ${replyBytesMax} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function toLaunched(text: string): LaunchedGame {
  const reply: unknown = JSON.parse(text)
  if (!launchReply.Check(reply)) throw new Error('the reply of the provider is not valid')
  const { gameUrl, expiresAt } = reply
  return { mode: 'real', gameUrl, expiresAt: new Date(expiresAt), tokenSha256: null, demoBalance: null }
}

export const providerMeasurement = (provider: GameProvider) =>
  measurement({
    gauges: {
      'backoffice.provider.breaker_open': { description: '1 while launches are refused without asking the provider' },
    },
    read: async () => ({ 'backoffice.provider.breaker_open': [{ value: provider.isResting ? 1 : 0 }] }),
  })
