import { randomBytes } from 'node:crypto'
import type { Environment } from '@backoffice/contracts'
import type { Db, Given, SecretBox } from '@backoffice/service-runtime'
import type { BrandEntity } from '../storage/entities.ts'
import { records } from '../storage/records.ts'

/** A pair as it is shown once. */
export interface IssuedPair {
  readonly key: string
  readonly secret: string
}

const keyPrefixes: Readonly<Record<Environment, string>> = { sandbox: 'bk_test_', production: 'bk_live_' }

/** Makes a key (128 random bits) and a secret (256 random bits) for a brand. The secret is stored encrypted. */
export async function issuePair(
  brand: BrandEntity,
  secrets: SecretBox,
  { db, now, newId }: Given & { readonly db: Db },
): Promise<IssuedPair> {
  const id = newId('crd')
  const key = keyPrefixes[brand.environment] + randomBytes(16).toString('hex')
  const secret = `sk_${randomBytes(32).toString('hex')}`
  const { em, Credential } = await records(db)
  em.create(Credential, {
    id,
    brand,
    key,
    sealedSecret: secrets.encrypt(secret, id),
    createdAt: now,
    revokedAt: null,
  })
  return { key, secret }
}
