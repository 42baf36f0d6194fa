import { randomBytes } from 'node:crypto'
import type { Environment } from '@backoffice/contracts'
import type { SecretBox } from '@backoffice/service-runtime'
import type { EntityManager } from '@mikro-orm/postgresql'
import { Credential } from '../storage/entities.ts'

/** A pair as it is shown once. */
export interface IssuedPair {
  readonly key: string
  readonly secret: string
}

const keyPrefixes: Readonly<Record<Environment, string>> = { sandbox: 'bk_test_', production: 'bk_live_' }

/** Makes a key and secret for a brand and keeps the secret sealed. 128 and 256 bits of randomness. */
export function addCredential(
  em: EntityManager,
  secrets: SecretBox,
  {
    id,
    brandId,
    environment,
    now,
  }: { readonly id: string; readonly brandId: string; readonly environment: Environment; readonly now: Date },
): IssuedPair {
  const key = keyPrefixes[environment] + randomBytes(16).toString('hex')
  const secret = `sk_${randomBytes(32).toString('hex')}`
  em.create(Credential, {
    id,
    brand: brandId,
    key,
    sealedSecret: secrets.encrypt(secret, id),
    createdAt: now,
    revokedAt: null,
  })
  return { key, secret }
}
