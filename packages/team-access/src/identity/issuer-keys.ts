import { readFileSync, statSync } from 'node:fs'
import {
  type CompactVerifyGetKey,
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JSONWebKeySet,
  type JWK,
} from 'jose'
import type { TeamIdentity } from './settings.ts'

const discoveryTimeoutMs = 5_000

/** The keys of the identity provider cannot be read now. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable'
}

export type IssuerKey = JWK

/** The public keys that the identity provider signs with. */
export interface IssuerKeys {
  /** The key that a token asks for. @throws {KeysUnavailable} */
  readonly find: CompactVerifyGetKey
  /** All of them, as the provider has them now. @throws {KeysUnavailable} */
  readonly read: () => Promise<readonly IssuerKey[]>
  /**
   * All of them, as they were last read: another text when the provider has other keys. What was verified with keys of
   * before is verified again, since one of them may have been withdrawn.
   * @throws {KeysUnavailable} where the keys are in a file that cannot be read
   */
  readonly held: () => string
}

/** They are looked up when they are first needed, and again when the provider has new ones. */
export function issuerKeys({ issuer, keysFile }: Pick<TeamIdentity, 'issuer' | 'keysFile'>): IssuerKeys {
  if (keysFile !== undefined) return keysInFile(keysFile)
  if (issuer === undefined) throw new Error('TEAM_ISSUER: is required')
  return keysOfIssuer(issuer)
}

/** Keys that are known, and do not change. */
export const fixedKeys = (keys: readonly JWK[]): IssuerKeys => ({
  find: createLocalJWKSet({ keys: [...keys] }),
  read: async () => keys,
  held: () => 'fixed',
})

/**
 * A provider changes its keys from time to time, and the file with them. Each use asks when the file was changed: a key
 * that somebody took out counts no more.
 */
function keysInFile(file: string): IssuerKeys {
  let known: { readonly keys: ReturnType<typeof createLocalJWKSet>; readonly changedAtMs: number } | undefined
  const current = () => {
    try {
      const { mtimeMs: changedAtMs } = statSync(file)
      if (known?.changedAtMs !== changedAtMs)
        known = { keys: createLocalJWKSet(JSON.parse(readFileSync(file, 'utf8')) as JSONWebKeySet), changedAtMs }
      return known.keys
    } catch (error) {
      throw unavailable(error)
    }
  }
  return {
    find: async (header, token) => current()(header, token),
    read: async () => current().jwks().keys,
    held: () => textOf(current().jwks()),
  }
}

const textOf = (keys: JSONWebKeySet | undefined): string => JSON.stringify(keys?.keys ?? null)

/** The token asks for a key that the provider does not have. All else is the provider's fault, or the network's. */
const tokenFaults = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported]

/** How old keys are when they are read again. */
const keysFreshMs = 600_000
/**
 * How long keys count that were read before the provider went away. It is in the memory of a process alone: whoever could
 * write a stored copy could sign as anybody.
 */
const keysKeptMsMax = 24 * 3_600_000
/** A provider that is away is not asked at each call. */
const askEveryMs = 30_000

type RemoteKeys = ReturnType<typeof createRemoteJWKSet>

/** OpenID Connect Discovery: the provider says where its keys are. */
export function keysOfIssuer(issuer: string, { freshMs = keysFreshMs, keptMsMax = keysKeptMsMax } = {}): IssuerKeys {
  let found: Promise<RemoteKeys> | undefined
  let latest: RemoteKeys | undefined
  let readAgainAtMs = 0
  const discovered = async () => {
    found ??= discover(issuer, keptMsMax)
    try {
      latest = await found
      return latest
    } catch (error) {
      found = undefined
      throw error
    }
  }
  const readAgain = async (keys: RemoteKeys) => {
    if (performance.now() < readAgainAtMs) return
    // One call asks. The others go on with what was read before.
    readAgainAtMs = performance.now() + askEveryMs
    try {
      await keys.reload()
      readAgainAtMs = performance.now() + freshMs
    } catch (error) {
      if (keys.jwks() !== undefined) return
      readAgainAtMs = 0
      throw error
    }
  }
  return {
    async find(header, token) {
      try {
        const keys = await discovered()
        await readAgain(keys)
        return await keys(header, token)
      } catch (error) {
        if (tokenFaults.some((fault) => error instanceof fault)) throw error
        throw unavailable(error)
      }
    },
    async read() {
      try {
        const keys = await discovered()
        await keys.reload()
        return keys.jwks()?.keys ?? []
      } catch (error) {
        throw unavailable(error)
      }
    },
    held() {
      // Whoever is logged in does not wait for the provider, which may be away.
      if (latest !== undefined) readAgain(latest).catch(() => {})
      return textOf(latest?.jwks())
    },
  }
}

const unavailable = (cause: unknown): KeysUnavailable =>
  cause instanceof KeysUnavailable
    ? cause
    : new KeysUnavailable('the keys of the identity provider cannot be read', { cause })

async function discover(issuer: string, keptMsMax: number): Promise<RemoteKeys> {
  try {
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const response = await fetch(address, { signal: AbortSignal.timeout(discoveryTimeoutMs) })
    if (!response.ok) throw new Error(`${address} answers ${response.status}`)
    const { issuer: said, jwks_uri: keysAddress } = (await response.json()) as Record<string, string>
    if (said !== issuer || keysAddress === undefined) throw new Error(`${address} is of another issuer: ${said}`)
    return createRemoteJWKSet(new URL(keysAddress), { cacheMaxAge: keptMsMax })
  } catch (cause) {
    throw new KeysUnavailable('the identity provider cannot be reached', { cause })
  }
}
