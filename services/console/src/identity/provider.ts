import { freshLoginMinutes } from '@backoffice/contracts'
import { patiently } from '@backoffice/process'
import { strongLoginOf, strongLoginParameters } from '@backoffice/team-access/identity'
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  buildEndSessionUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import type { ConsoleSettings } from '../settings.ts'

/** Enough for any provider on earth. A person waits for it. */
const timeoutSeconds = 10

/** A login that was begun. It is kept until the provider sends the person back. */
export interface LoginAttempt {
  readonly state: string
  /** The thumbprint of the key that the browser has made for the session. */
  readonly nonce: string
  readonly codeVerifier: string
  readonly maxAgeSeconds: number
}

/** The identity provider, which says who somebody is (OpenID Connect, authorization code with PKCE). */
export class Provider {
  readonly #config: ConsoleSettings
  #configuration: Promise<Configuration> | undefined

  constructor(config: ConsoleSettings) {
    this.#config = config
  }

  /**
   * Begins a login. The ID token certifies the key whose thumbprint is the nonce.
   * @param again the person must show once more who they are, although the provider knows them, and as strongly as services want it
   * @throws {ProviderUnavailable}
   */
  async begin({ again, nonce }: { readonly again: boolean; readonly nonce: string }) {
    const configuration = await this.#discovered()
    // Asked for in every login: only then must the provider say when the person has proven who they are (auth_time).
    const maxAgeSeconds = again ? freshLoginMinutes * 60 : this.#config.TEAM_SESSION_HOURS * 3_600
    const attempt = { state: randomState(), nonce, codeVerifier: randomPKCECodeVerifier(), maxAgeSeconds }
    const address = buildAuthorizationUrl(configuration, {
      redirect_uri: `${this.#config.CONSOLE_URL}/callback`,
      scope: this.#config.CONSOLE_SCOPE,
      response_type: 'code',
      state: attempt.state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(attempt.codeVerifier),
      code_challenge_method: 'S256',
      max_age: String(maxAgeSeconds),
      ...(again ? { prompt: 'login', ...strongLoginParameters(strongLoginOf(this.#config)) } : {}),
    })
    return { address, attempt }
  }

  /**
   * @param callback the address to which the provider sent the person back, as the browser asked for it
   * @returns the ID token
   * @throws errors of openid-client, which say what was wrong
   */
  async complete(callback: URL, { state, nonce, codeVerifier, maxAgeSeconds }: LoginAttempt): Promise<string> {
    const tokens = await authorizationCodeGrant(await this.#discovered(), callback, {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: codeVerifier,
      maxAge: maxAgeSeconds,
      idTokenExpected: true,
    })
    if (tokens.id_token === undefined) throw new Error('the provider sent no ID token')
    return tokens.id_token
  }

  /** Where a person goes to be logged out at the provider too. Undefined where it offers no such page. */
  async endSession(): Promise<URL | undefined> {
    const configuration = await this.#discovered()
    if (configuration.serverMetadata().end_session_endpoint === undefined) return undefined
    // Names the client, and no ID token: an address is kept in histories and logs.
    return buildEndSessionUrl(configuration, {
      post_logout_redirect_uri: `${this.#config.CONSOLE_URL}/`,
    })
  }

  /** The provider may be away when the console starts, so it is asked at the first login, and again after a failure. */
  async #discovered(): Promise<Configuration> {
    const { CONSOLE_CLIENT_ID, CONSOLE_CLIENT_SECRET, DEVELOPMENT, TEAM_ISSUER } = this.#config
    this.#configuration ??= discovery(new URL(TEAM_ISSUER), CONSOLE_CLIENT_ID, CONSOLE_CLIENT_SECRET, undefined, {
      timeout: patiently(timeoutSeconds),
      execute: DEVELOPMENT ? [allowInsecureRequests] : [],
    })
    try {
      return await this.#configuration
    } catch (cause) {
      this.#configuration = undefined
      throw new ProviderUnavailable('the identity provider cannot be reached', { cause })
    }
  }
}

export class ProviderUnavailable extends Error {
  override readonly name = 'ProviderUnavailable'
}
