import { freshLoginMinutes, type TeamTool } from '@backoffice/contracts'
import {
  type CallToProve,
  newSessionKey,
  PersonSigner,
  type Proof,
  type SessionKey,
  type TeamSigner,
} from '@backoffice/team-access/identity'
import { startLogin } from '@backoffice/team-access/login'
import { commandLineClientId, confirmedAcr, type TeamUser } from './people.ts'

export interface PersonLogin {
  readonly idToken: string
  readonly key: SessionKey
}

/** Nobody listens there: this process reads where it is sent, and does not go. */
const redirectUri = 'http://127.0.0.1/callback'
const redirectsMax = 10

/**
 * Logs a person of a development stack in, without a browser: it asks the provider, chooses the person on its page, and
 * follows it back.
 * @param issuer the provider of `npm start`
 */
export async function logIn(issuer: string, person: TeamUser): Promise<PersonLogin> {
  const key = await newSessionKey()
  const { address, finish } = await startLogin({
    issuer,
    clientId: commandLineClientId,
    redirectUri,
    nonce: key.thumbprint,
    strongLogin: { acrClaim: 'acr', acr: [confirmedAcr], amr: [] },
  })
  return { idToken: await finish(await choosePerson(address, person)), key }
}

/**
 * Does what a person does in a browser at the provider of a development stack.
 * @param start the address that begins a login
 * @param cookies of the browser, by name; what the provider sets is added
 * @returns where the provider sends the browser in the end
 */
export async function choosePerson(
  start: URL,
  person: TeamUser,
  cookies: Map<string, string> = new Map(),
): Promise<URL> {
  let address = start
  let form: URLSearchParams | undefined
  for (let redirects = 0; redirects < redirectsMax; redirects += 1) {
    const response = await fetch(address, {
      redirect: 'manual',
      headers: { Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(form === undefined ? {} : { method: 'POST', body: form }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) {
      if (!response.ok || form !== undefined)
        throw new Error(`${address.pathname} answers ${response.status}: ${await response.text()}`)
      await response.body?.cancel()
      // The page with the people: its form is sent to where it is.
      form = new URLSearchParams({ person, confirmed: 'yes' })
      continue
    }
    await response.body?.cancel()
    form = undefined
    address = new URL(location, address)
    if (address.origin !== start.origin) return address
  }
  throw new Error('the identity provider did not come to an end')
}

/** Logs in again before a login is too old for what takes a fresh one. */
const renewAfterMs = (freshLoginMinutes - 2) * 60_000

interface Who {
  /** The identity provider of `npm start`. */
  readonly issuer: string
  readonly consoleUrl: string
  readonly person: TeamUser
  readonly tool: TeamTool
}

/** Signs the calls of a person of a development stack, who is logged in whenever that is needed. */
export class StackPerson implements TeamSigner {
  readonly #who: Who
  #session: { readonly signer: Promise<PersonSigner>; readonly sinceMs: number } | undefined

  constructor(who: Who) {
    this.#who = who
  }

  async sign(call: CallToProve): Promise<Proof> {
    return (await this.#signer()).sign(call)
  }

  /** The next call is made with a new login. */
  renew(): void {
    this.#session = undefined
  }

  #signer(): Promise<PersonSigner> {
    const now = performance.now()
    if (this.#session === undefined || now - this.#session.sinceMs > renewAfterMs) {
      const session = { signer: this.#logIn(), sinceMs: now }
      this.#session = session
      // A login that failed is tried again with the next call.
      session.signer.catch(() => {
        if (this.#session === session) this.#session = undefined
      })
    }
    return this.#session.signer
  }

  async #logIn(): Promise<PersonSigner> {
    const { issuer, consoleUrl: deployment, person, tool } = this.#who
    return new PersonSigner({ ...(await logIn(issuer, person)), deployment, tool })
  }
}
