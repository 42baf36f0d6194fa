import { randomBytes } from 'node:crypto'
import { type Environment, type Operation, operations, teamConsole } from '@backoffice/contracts'
import type { gateway } from '@backoffice/gateway'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { loadConfig } from '@backoffice/process'
import { reconciler } from '@backoffice/reconciler'
import { exportSessionKey, newSessionKey, PersonSigner } from '@backoffice/team-identity'
import {
  type LoginOptions,
  natsPassword,
  proposalOf,
  seenSubmission,
  type TeamUser,
  type Teardown,
  testBed,
} from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import type { webhooks } from '@backoffice/webhooks'
import fastify from 'fastify'
import { packToken, registerCookies } from '../src/identity/cookies.ts'
import { type RunningConsole, settings, startConsole } from '../src/program.ts'

export const consoleUrl = 'http://console.test'
const person = { email: 'ana@example.com', cpf: '529.982.247-25', birthDate: '1990-05-17' }

/** A key that encrypts cookies. */
export const newCookieKey = (): string => randomBytes(32).toString('base64')

/** The services behind the queues, and the console in front of them. */
export async function consoleBed(
  t: Teardown,
  environment: Readonly<Record<string, string>> = {},
  /** Who the people are, where a test has an identity provider of its own. */
  identity: Readonly<Record<string, string>> = {},
  /** The services behind the other pages, where a test needs them. */
  others: { readonly gateway?: typeof gateway; readonly webhooks?: typeof webhooks } = {},
) {
  // That provider says itself which keys it has.
  const people = Object.keys(identity).length === 0 ? {} : { ...identity, TEAM_KEYS_FILE: '' }
  const alone = { PAY_ALONE_UP_TO: '10.00' }
  const config = {
    players: people,
    payments: { ...people, ...alone },
    wallet: people,
    gateway: people,
    reconciler: { ...people, ...alone },
  }
  const { CONSOLE_URL: deployment = consoleUrl } = environment
  const bed = await testBed(t, { players, payments, wallet, reconciler, ...others }, { config, deployment })
  const own = {
    ...bed.issuer.settings,
    CONSOLE_URL: consoleUrl,
    CONSOLE_CLIENT_SECRET: 'secret',
    CONSOLE_SESSION_KEYS: newCookieKey(),
    CONSOLE_HOST: '127.0.0.1',
    CONSOLE_PORT: '0',
    HEALTH_HOST: '127.0.0.1',
    DEVELOPMENT: 'true',
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'silent',
    NATS_URL: bed.natsUrl,
    NATS_USER: teamConsole,
    NATS_PASSWORD: natsPassword(teamConsole),
    ...people,
    ...environment,
  }
  const consoleConfig = loadConfig(settings, own)
  const running = await start(consoleConfig)
  const url = urlOf(running)

  async function start(config: typeof consoleConfig): Promise<RunningConsole> {
    const started = await startConsole(config)
    t.teardown(() => started.drain())
    return started
  }

  /** The cookies of somebody who has signed in, under the first of `keys`. */
  async function cookiesOf(user: TeamUser, login: LoginOptions = {}, keys = own.CONSOLE_SESSION_KEYS) {
    const app = fastify()
    await registerCookies(app, { ...consoleConfig, CONSOLE_SESSION_KEYS: keys })
    await app.ready()
    const key = await newSessionKey()
    const token = packToken(bed.issuer.idToken(user, key, login))
    const written = { session: { key: await exportSessionKey(key) }, tokenSession: { token } }
    const encoded = Object.entries(written).map(([name, data]) =>
      encodeURIComponent(app.encodeSecureSession(app.createSecureSession(data), name)),
    )
    return { console: encoded[0] ?? '', 'console-token': encoded[1] ?? '' }
  }

  return {
    bed,
    url,
    healthUrl: `http://127.0.0.1:${running.healthPort}`,
    cookiesOf,
    /** The address of a second console before the same services, which has other keys for its cookies. */
    urlWithKeys: async (keys: string) => urlOf(await start({ ...consoleConfig, CONSOLE_SESSION_KEYS: keys })),
    /** A browser's tab, without the browser. */
    async visitor(user: TeamUser, login: LoginOptions = {}): Promise<Visitor> {
      return new Visitor(url, await cookiesOf(user, login))
    },
    /** What the command line sends with a call. */
    async signedHeaders(operation: Operation, call: SignedCall, user: TeamUser = 'alice', login: LoginOptions = {}) {
      const key = await newSessionKey()
      const idToken = bed.issuer.idToken(user, key, login)
      const signer = new PersonSigner({ idToken, key, deployment, tool: login.tool ?? 'command line' })
      const { proof } = await signer.sign({ operation: `${operation.service}.${operation.id}`, ...call })
      return {
        Authorization: `Bearer ${idToken}`,
        'Team-Proof': proof,
        'Operation-Id': call.operationId,
        ...(call.approves === undefined ? {} : { Approves: call.approves }),
      }
    },
    /** A player whose identity document waits for a decision. */
    async newPlayer(
      environment: Environment,
      name = 'Ana Souza',
      reference = 'doc-1',
      scope = bed.scope({ environment }),
      cpf = person.cpf,
    ) {
      const input = { externalId: randomBytes(8).toString('hex'), name, ...person, cpf }
      const { id: playerId } = await bed.rpc.call(operations.players.registerPlayer, { scope, input })
      await bed.rpc.call(operations.players.submitKyc, { scope, input: { playerId, documentType: 'rg', reference } })
      return playerId
    },
    async approve(playerId: string) {
      const bob = bed.team('bob')
      const decision = { ...(await seenSubmission(bob, playerId)), status: 'aprovado', reason: 'clear' } as const
      await bob.call(operations.players.decideKyc, { input: decision })
    },
    /** A withdrawal of an approved player, which waits for a decision. */
    async newWithdrawal(environment: Environment, playerId: string, destination = 'ana@example.com', amount = '40.00') {
      const scope = bed.scope({ environment })
      await this.approve(playerId)
      const deposit = { playerId, amount: '150.00', currency: 'BRL', method: 'pix', externalReference: playerId }
      const { id: depositId } = await bed.rpc.call(operations.payments.createDeposit, { scope, input: deposit })
      await bed.rpc.call(operations.payments.confirmDeposit, { scope, input: { depositId } })
      const input = { playerId, amount, currency: 'BRL', method: 'pix', destination }
      const { id } = await bed.rpc.call(operations.payments.requestWithdrawal, { scope, input })
      return id
    },
    /** A correction of a balance that bob proposes, and that somebody else may approve. */
    async newProposal(playerId: string, reference = playerId): Promise<string> {
      const input = { playerId, amount: '5000.00', reference, reason: 'a double payout' }
      return (await proposalOf(bed.team('bob').call(operations.wallet.adjustWallet, { input }))).proposalId
    },
    showWithdrawal: (withdrawalId: string) =>
      bed.team('bob').call(operations.payments.showWithdrawal, { input: { withdrawalId } }),
  }
}
const urlOf = ({ port }: RunningConsole) => `http://127.0.0.1:${port}`
export type ConsoleBed = Awaited<ReturnType<typeof consoleBed>>

interface SignedCall {
  readonly operationId: string
  readonly input: Readonly<Record<string, unknown>>
  readonly approves?: string
}

export interface Shown {
  readonly status: number
  readonly text: string
  readonly location: string | null
  readonly headers: Headers
}

/** Keeps cookies, and follows no redirect. */
export class Visitor {
  readonly #url: string
  readonly #cookies: Map<string, string>
  #csrf: string | undefined

  constructor(url: string, cookies: Readonly<Record<string, string>>) {
    this.#url = url
    this.#cookies = new Map(Object.entries(cookies))
  }

  /** Somebody else signs in with the same browser. */
  as = (cookies: Readonly<Record<string, string>>): Visitor =>
    new Visitor(this.#url, { ...Object.fromEntries(this.#cookies), ...cookies })

  get = (path: string): Promise<Shown> => this.#send(path, {})

  post(path: string, form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
    return this.#send(path, { method: 'POST', body: new URLSearchParams(form), headers })
  }

  /** Fills in a form of a page, and sends it. */
  async submit(page: string, name: string, filledIn: Readonly<Record<string, string>> = {}): Promise<Shown> {
    const action = `${page}/${name}`
    return this.post(action, { ...formOf(await this.get(page), action), ...filledIn })
  }

  /** What the field in the header finds. */
  async search(environment: Environment, q: string): Promise<Shown> {
    const action = `/${environment}/search`
    this.#csrf ??= formOf(await this.get(`/${environment}`), action)._csrf
    return this.post(action, { _csrf: this.#csrf ?? '', q })
  }

  async #send(path: string, init: RequestInit): Promise<Shown> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { 'Accept-Language': 'en', ...(init.headers as Record<string, string>), Cookie: cookie }
    const response = await fetch(`${this.#url}${path}`, { ...init, redirect: 'manual', headers })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      this.#cookies.set(name, value)
    }
    const text = await response.text()
    return { status: response.status, text, location: response.headers.get('location'), headers: response.headers }
  }
}

/** The hidden fields of the form for one decision, as the page has them. */
export function formOf({ text }: Shown, action: string): Record<string, string> {
  const form = text.split('<form').find((part) => part.includes(`action="${action}"`)) ?? ''
  const fields = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)]
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, unescaped(value)]))
}

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const unescaped = (html: string) => html.replace(/&(\w+|#39);/g, (entity, name) => characters[name] ?? entity)
