import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { type Environment, type Operation, operations, teamConsole } from '@backoffice/contracts'
import { gateway } from '@backoffice/gateway'
import { freePort, identityEnvironment, identitySettings, startIdentityProvider } from '@backoffice/local-stack'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { loadConfig } from '@backoffice/process'
import { reconciler } from '@backoffice/reconciler'
import {
  type CallToProve,
  exportSessionKey,
  newSessionKey,
  PersonSigner,
  type SessionKey,
} from '@backoffice/team-access/identity'
import {
  type LoginOptions,
  natsPassword,
  proposalOf,
  seenSubmission,
  type TeamUser,
  type Teardown,
  temporaryFolder,
  testBed,
} from '@backoffice/test-kit'
import { startBrowser } from '@backoffice/test-kit/browser'
import { wallet } from '@backoffice/wallet'
import { webhooks } from '@backoffice/webhooks'
import fastify from 'fastify'
import type { Browser, Page } from 'playwright-core'
import {
  type BrowserKey,
  inputOf,
  newKey,
  newReplyKey,
  type ShownCall,
  signCall,
  signDelegation,
  unreadOf,
} from '../assets/signing.js'
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
    // What is counted by day is what a test says.
    wallet: { ...people, CHECKPOINT_EVERY_MS: 3_600_000 },
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

  /** What the browser of somebody who has signed in has: cookies under the first of `keys`, and the key of the session. */
  async function sessionOf(
    user: TeamUser,
    login: LoginOptions = {},
    { keys = own.CONSOLE_SESSION_KEYS, browser = newBrowser } = {},
  ): Promise<BrowserSession> {
    const app = fastify()
    await registerCookies(app, { ...consoleConfig, CONSOLE_SESSION_KEYS: keys })
    await app.ready()
    const delegate = await newSessionKey()
    const claims = { aud: deployment, delegate: delegate.thumbprint, iat: seconds(), exp: seconds() + 36_000 }
    const { thumbprint, delegation, key } = await browser(claims)
    const token = packToken(bed.issuer.idToken(user, { thumbprint } as SessionKey, login))
    const written = { session: { delegate: await exportSessionKey(delegate), delegation }, tokenSession: { token } }
    const encoded = Object.entries(written).map(([name, data]) =>
      encodeURIComponent(app.encodeSecureSession(app.createSecureSession(data), name)),
    )
    const cookies = { console: encoded[0] ?? '', 'console-token': encoded[1] ?? '' }
    return { cookies, key, origin: deployment }
  }

  return {
    bed,
    url,
    healthUrl: `http://127.0.0.1:${running.healthPort}`,
    sessionOf,
    /** What whoever has the keys of the cookies reads in those of somebody. */
    async stored({ cookies }: BrowserSession): Promise<Readonly<Record<string, unknown>>> {
      const app = fastify()
      await registerCookies(app, consoleConfig)
      const read = ([name, value]: readonly [string, string]) =>
        app
          .decodeSecureSession(
            decodeURIComponent(value),
            undefined,
            name.endsWith('token') ? 'tokenSession' : 'session',
          )
          ?.data()
      return Object.assign({}, ...Object.entries(cookies).map(read))
    },
    /** The address of a second console before the same services, which has other keys for its cookies. */
    urlWithKeys: async (keys: string) => urlOf(await start({ ...consoleConfig, CONSOLE_SESSION_KEYS: keys })),
    /** A browser's tab, without the browser. */
    async visitor(user: TeamUser, login: LoginOptions = {}): Promise<Visitor> {
      return new Visitor(url, await sessionOf(user, login))
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

/** A console in front of the identity provider of `npm start`. */
export async function bedWithProvider(t: Teardown, more: Readonly<Record<string, string>> = {}) {
  const dir = temporaryFolder(t)
  const secret = 'secret-of-the-console'
  const file = join(dir, 'identity.json')
  const identity = await identitySettings(file, secret)
  const provider = await startIdentityProvider(file, identity, join(dir, 'identity.log'))
  t.teardown(() => provider.stop())
  const { url, port } = identity.console
  const own = { CONSOLE_URL: url, CONSOLE_PORT: String(port), CONSOLE_CLIENT_SECRET: secret }
  const bed = await consoleBed(t, own, { ...identityEnvironment(identity.issuer, url), ...more }, { gateway })
  return { bed, provider, issuer: identity.issuer }
}

interface SignedCall extends Omit<CallToProve, 'operation'> {
  readonly input: Readonly<Record<string, unknown>>
}

export interface Shown {
  readonly status: number
  readonly text: string
  readonly location: string | null
  readonly headers: Headers
}

export type Delegation = Parameters<typeof signDelegation>[0]
/** A browser at a login makes a key, and signs what lets the console read. A real one does not give the key away. */
type NewBrowser = (claims: Delegation) => Promise<{
  readonly thumbprint: string
  readonly delegation: string
  readonly key?: BrowserKey
}>

const newBrowser: NewBrowser = async (claims) => {
  const key = await newKey()
  return { key, thumbprint: key.thumbprint, delegation: await signDelegation(claims, key) }
}

const seconds = () => Math.floor(Date.now() / 1_000)

/** What a browser holds for somebody. */
export interface BrowserSession {
  readonly cookies: Readonly<Record<string, string>>
  /** Undefined where a real browser has it. */
  readonly key?: BrowserKey | undefined
  /** Of the console, for which it signs. */
  readonly origin?: string
}

/** Keeps cookies, signs forms as the page does, and follows no redirect. */
export class Visitor {
  readonly #url: string
  readonly #session: BrowserSession
  readonly #cookies: Map<string, string>
  #csrf: string | undefined

  constructor(url: string, session: BrowserSession) {
    this.#url = url
    this.#session = session
    this.#cookies = new Map(Object.entries(session.cookies))
  }

  /** Somebody else signs in with the same browser, or it sends other cookies, too. */
  as({ cookies, ...others }: BrowserSession): Visitor {
    const all = { ...Object.fromEntries(this.#cookies), ...cookies }
    return new Visitor(this.#url, { ...this.#session, ...others, cookies: all })
  }

  /** The page as it comes first, which may lack parts. */
  getFirst = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Shown> =>
    this.#send(path, { headers })

  /** The page, and where it lacks parts the whole of it, which a browser asks for next. */
  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Shown> {
    const first = await this.getFirst(path, headers)
    const [, rest] = /data-rest hx-get="([^"]*)"/.exec(first.text) ?? []
    return rest === undefined ? first : this.getFirst(unescaped(rest), headers)
  }

  /** A form that shows a call is signed, unless it is already. */
  async post(path: string, form: Readonly<Record<string, string>>, headers: Readonly<Record<string, string>> = {}) {
    const signed = form.shown === undefined || form._proof !== undefined ? form : await this.signed(form)
    return this.#send(path, { method: 'POST', body: new URLSearchParams(signed), headers })
  }

  /** As assets/forms.js signs it. */
  async signed(form: Readonly<Record<string, string>>): Promise<Readonly<Record<string, string>>> {
    const { key, origin: aud = consoleUrl } = this.#session
    const { shown = '', operationId = '' } = form
    if (key === undefined) return form
    const call = JSON.parse(shown) as ShownCall
    if (unreadOf(call, form).length > 0) return form
    const input = inputOf(call, form)
    const reply = call.isSealed ? await newReplyKey() : undefined
    const signed = { ...call, operationId, input, sealTo: reply?.sealTo }
    const _proof = await signCall(signed, { aud, iat: seconds() }, key)
    const _opener = JSON.stringify(reply?.opener ?? '')
    return { ...form, _input: JSON.stringify(input), _proof, _opener }
  }

  /** Fills in a form of a page, and sends it. */
  async submit(page: string, name: string, filledIn: Readonly<Record<string, string>> = {}): Promise<Shown> {
    const action = page.replace(/(?=\?|$)/, `/${name}`)
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
    namesItsZone(path, text)
    return { status: response.status, text, location: response.headers.get('location'), headers: response.headers }
  }
}

/** Holds of every page that a test sees: where a time stands, its zone does. @throws for a page that leaves it out */
function namesItsZone(path: string, text: string): void {
  if (!text.startsWith('<!doctype html>')) return
  const page = text.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
  // Not the last four characters of a key.
  const zoneless = /(?<!…)\b20\d\d,? \d\d:\d\d(:\d\d)?(?! (GMT|UTC)|\d|:)/.exec(page)
  if (zoneless !== null) throw new Error(`${path} shows ${zoneless[0]} without its zone`)
  if (/\b\d\d:\d\d\b/.test(page) && !/: [\w/+-]+ \(GMT[^)]*\)/.test(page))
    throw new Error(`${path} shows times and does not name their zone`)
}

/** The hidden fields of the form for one decision, as the page has them. */
export function formOf({ text }: Shown, action: string): Record<string, string> {
  const form = text.split('<form').find((part) => part.includes(`action="${action}"`)) ?? ''
  const fields = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)]
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, unescaped(value)]))
}

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }
const unescaped = (html: string) => html.replace(/&(\w+|#39);/g, (entity, name) => characters[name] ?? entity)

type Options = Parameters<Browser['newContext']>[0]
export type User = 'alice' | 'bob' | 'carol'

/** Presses keys in a page that listens to them: what it shows is there before its scripts are. */
export async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  await page.waitForLoadState()
  for (const key of keys) await page.keyboard.press(key)
}

/** A window of somebody who is signed in. */
async function windowOf(bed: ConsoleBed, browser: Browser, user: User, options: Options = {}): Promise<Page> {
  const context = await browser.newContext({ locale: 'en-GB', viewport: { width: 1366, height: 800 }, ...options })
  // A session is begun with scripts, also where it goes on without them.
  const { javaScriptEnabled = true } = options
  const beginning = await (javaScriptEnabled ? context : await browser.newContext()).newPage()
  await context.addCookies(await logIn(bed, beginning, user))
  if (javaScriptEnabled) return beginning
  await beginning.context().close()
  return context.newPage()
}

/** A console at an address of its own, since a browser says where a form comes from, and a browser before it. */
export async function browserBed(t: Teardown, environment: Readonly<Record<string, string>> = {}) {
  const port = String(await freePort())
  const own = { CONSOLE_URL: `http://127.0.0.1:${port}`, CONSOLE_PORT: port, ...environment }
  const bed = await consoleBed(t, own, {}, { gateway, webhooks })
  const browser = await startBrowser(t)
  return { bed, windowOf: (user: User, options?: Options) => windowOf(bed, browser, user, options) }
}

/** A login without its provider: the page's own modules make the key, keep it and sign. The cookies are the caller's to set. */
export async function logIn(bed: ConsoleBed, page: Page, user: User) {
  const { cookies } = await bed.sessionOf(user, {}, { browser: (claims) => keyOf(page, claims) })
  return Object.entries(cookies).map(([name, value]) => ({ name, value, url: bed.url }))
}

async function keyOf(page: Page, claims: Delegation): Promise<{ thumbprint: string; delegation: string }> {
  await page.goto(`${claims.aud}/sign-in`)
  return page.evaluate(async (claims) => {
    const module = (name: string) =>
      import(new URL(name, document.querySelector<HTMLScriptElement>('[type=module]')?.src).href)
    const { keepKey, newKey, signDelegation } = await module('signing.js')
    const key = await newKey()
    await keepKey(key)
    return { thumbprint: key.thumbprint, delegation: await signDelegation(claims, key) }
  }, claims)
}
