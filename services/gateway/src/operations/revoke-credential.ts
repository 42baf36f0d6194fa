import { operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { revokedAt } from '../domain/credential.ts'
import { lockCredential } from '../storage/operators.ts'

/** Holds within a second on every replica. The last active key of an environment is not revoked. */
export const revokeCredential = handle(operations.gateway.revokeCredential, {
  async execute({ input: { key } }, { db, now, changed }) {
    const { credential, activeKeys } = await lockCredential(db, key)
    const since = revokedAt(credential.revokedAt ?? null, activeKeys, now)
    if (credential.revokedAt == null) changed({ field: 'revokedAt', before: null, after: since.toISOString() })
    const em = await db.em()
    em.assign(credential, { revokedAt: since })
    return { key, revokedAt: since.toISOString() }
  },
})
