import { freshLoginMinutes } from '@backoffice/contracts/team'
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  discovery,
  None,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import { type StrongLogin, strongLoginParameters } from './settings.ts'

export interface LoginRequest {
  /** The identity provider, as its tokens name it. */
  readonly issuer: string
  /** Of a public client: it has no secret, since everybody could read it on their own machine. */
  readonly clientId: string
  /** On the loopback interface, where this process waits for the browser (RFC 8252). */
  readonly redirectUri: string
  /** The thumbprint of the session's key: the ID token repeats it as its `nonce`. */
  readonly nonce: string
  /** What is asked of the login. */
  readonly strongLogin: StrongLogin
}

export interface StartedLogin {
  /** Where the person's browser goes. */
  readonly address: URL
  /**
   * @param callback the address that the provider sent the browser to
   * @returns the ID token
   * @throws when the provider refused, or when it is not the answer to this login
   */
  finish(callback: URL): Promise<string>
}

/** Asked for in every login: only then must the provider say when the person has shown who they are (`auth_time`). */
const maxAgeSeconds = freshLoginMinutes * 60

const loopback = ['127.0.0.1', '[::1]', 'localhost']

/**
 * Begins a login: authorization code with PKCE. The provider asks the person even when it knows their browser, because
 * what a session may do follows from how fresh its login is.
 */
export async function startLogin(request: LoginRequest): Promise<StartedLogin> {
  const { issuer, clientId, redirectUri, nonce, strongLogin } = request
  const server = new URL(issuer)
  const insecure = loopback.includes(server.hostname) ? { execute: [allowInsecureRequests] } : {}
  const provider = await discovery(server, clientId, undefined, None(), insecure)
  const pkceCodeVerifier = randomPKCECodeVerifier()
  const state = randomState()
  const address = buildAuthorizationUrl(provider, {
    redirect_uri: redirectUri,
    scope: 'openid email profile',
    code_challenge: await calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
    prompt: 'login',
    max_age: String(maxAgeSeconds),
    state,
    nonce,
    ...strongLoginParameters(strongLogin),
  })
  return {
    address,
    async finish(callback) {
      const { id_token: idToken } = await authorizationCodeGrant(provider, callback, {
        pkceCodeVerifier,
        expectedState: state,
        expectedNonce: nonce,
        maxAge: maxAgeSeconds,
        idTokenExpected: true,
      }).catch(explain)
      if (idToken === undefined) throw new Error('the identity provider gave no ID token')
      return idToken
    },
  }
}

/** In words for the person who logs in. */
function explain(error: unknown): never {
  if (error instanceof AuthorizationResponseError)
    throw new Error(`the identity provider refused: ${error.error_description ?? error.error}`, { cause: error })
  const { message, cause } = error as Error
  const why = cause instanceof Error ? `${message}: ${cause.message}` : message
  throw new Error(`the answer of the identity provider is not valid: ${why}`, { cause: error })
}
