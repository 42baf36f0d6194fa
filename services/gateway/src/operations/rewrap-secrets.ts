import { operations } from '@backoffice/contracts'
import { command, type SecretBox } from '@backoffice/service-runtime'
import { LockMode } from '@mikro-orm/postgresql'
import { Credential } from '../storage/entities.ts'

/** After it, master keys other than the newest may be taken out of MASTER_KEYS. */
export const rewrapSecrets = (secrets: SecretBox) =>
  command(operations.gateway.rewrapSecrets, {
    async execute(_call, { em }) {
      const credentials = await em.find(
        Credential,
        {},
        { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } },
      )
      let rewrapped = 0
      for (const credential of credentials) {
        const sealed = secrets.rewrap(credential.sealedSecret, credential.id)
        if (sealed === null) continue
        credential.sealedSecret = sealed
        rewrapped += 1
      }
      return { rewrapped, keyId: secrets.newestKeyId }
    },
  })
