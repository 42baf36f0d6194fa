import { operations } from '@backoffice/contracts'
import { handle, type SecretBox } from '@backoffice/service-runtime'
import { records } from '../storage/records.ts'

/** Afterwards all master keys but the newest may be removed from MASTER_KEYS. */
export const rewrapSecrets = (secrets: SecretBox) =>
  handle(operations.gateway.rewrapSecrets, {
    async execute(_call, { db }) {
      const { em, Credential, LockMode } = await records(db)
      const credentials = await em.find(
        Credential,
        {},
        { lockMode: LockMode.PESSIMISTIC_WRITE, orderBy: { id: 'asc' } },
      )
      const rewrapped = credentials.flatMap((credential) => {
        const sealedSecret = secrets.rewrap(credential.sealedSecret, credential.id)
        return sealedSecret === null ? [] : [em.assign(credential, { sealedSecret })]
      })
      return { rewrapped: rewrapped.length, keyId: secrets.newestKeyId }
    },
  })
