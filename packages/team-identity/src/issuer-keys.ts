import { readFileSync, statSync } from 'node:fs'
import { type CompactVerifyGetKey, createLocalJWKSet, createRemoteJWKSet, errors, type JSONWebKeySet } from 'jose'
import type { TeamIdentity } from './settings.ts'

const discoveryTimeoutMs = 5_000

/** The keys of the identity provider cannot be read now. */
export class KeysUnavailable extends Error {
  override readonly name = 'KeysUnavailable'
}

/** The keys that the identity provider signs with. They are looked up when they are first needed, and again when it has new ones. */
export function issuerKeys({ issuer, keysFile }: Pick<TeamIdentity, 'issuer' | 'keysFile'>): CompactVerifyGetKey {
  if (keysFile !== undefined) return keysInFile(keysFile)
  if (issuer === undefined) throw new Error('TEAM_ISSUER: is required')
  return keysOfIssuer(issuer)
}

/** A provider changes its keys from time to time, and the file with them. */
function keysInFile(file: string): CompactVerifyGetKey {
  let keys: CompactVerifyGetKey | undefined
  let changedAtMs = 0
  const read = () => {
    changedAtMs = statSync(file).mtimeMs
    keys = createLocalJWKSet(JSON.parse(readFileSync(file, 'utf8')) as JSONWebKeySet)
    return keys
  }
  return async (header, token) => {
    try {
      return await (keys ?? read())(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || statSync(file).mtimeMs === changedAtMs) throw error
      return read()(header, token)
    }
  }
}

/** The token asks for a key that the provider does not have. All else is the provider's fault, or the network's. */
const tokenFaults = [errors.JWKSNoMatchingKey, errors.JWKSMultipleMatchingKeys, errors.JOSENotSupported]

/** OpenID Connect Discovery: the provider says where its keys are. */
function keysOfIssuer(issuer: string): CompactVerifyGetKey {
  let keys: Promise<CompactVerifyGetKey> | undefined
  return async (header, token) => {
    keys ??= discover(issuer)
    try {
      return await (await keys)(header, token)
    } catch (error) {
      if (error instanceof KeysUnavailable) keys = undefined
      if (tokenFaults.some((fault) => error instanceof fault)) throw error
      throw new KeysUnavailable('the keys of the identity provider cannot be read', { cause: error })
    }
  }
}

async function discover(issuer: string): Promise<CompactVerifyGetKey> {
  try {
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const response = await fetch(address, { signal: AbortSignal.timeout(discoveryTimeoutMs) })
    if (!response.ok) throw new Error(`${address} answers ${response.status}`)
    const { issuer: said, jwks_uri: keysAddress } = (await response.json()) as Record<string, string>
    if (said !== issuer || keysAddress === undefined) throw new Error(`${address} is of another issuer: ${said}`)
    return createRemoteJWKSet(new URL(keysAddress))
  } catch (cause) {
    throw new KeysUnavailable('the identity provider cannot be reached', { cause })
  }
}
