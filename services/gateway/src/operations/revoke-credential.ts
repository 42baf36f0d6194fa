import { operations, Rejection } from '@backoffice/contracts'
import { command } from '@backoffice/service-runtime'
import { Credential } from '../storage/entities.ts'
import { lockOperator } from '../storage/operators.ts'

/** Refuses the last active key of an environment: that would be an outage, which `suspendOperator` says honestly. */
export const revokeCredential = command(operations.gateway.revokeCredential, {
  async execute({ input }, { em, now }) {
    const credential = await em.findOne(Credential, { key: input.key }, { populate: ['brand'] })
    if (credential === null) throw new Rejection('CREDENTIAL_NOT_FOUND')
    // Under the operator's lock, so that two revocations at once cannot each leave the other's key as the last.
    await lockOperator(em, credential.brand.operator.id)
    await em.refresh(credential)
    if (credential.revokedAt == null) {
      const others = await em.count(Credential, {
        brand: credential.brand.id,
        revokedAt: null,
        id: { $ne: credential.id },
      })
      if (others === 0) throw new Rejection('CREDENTIAL_LAST_ACTIVE')
      credential.revokedAt = now
    }
    return { key: credential.key, revokedAt: credential.revokedAt.toISOString() }
  },
})
