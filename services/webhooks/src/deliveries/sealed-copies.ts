// Records.

import type { SealedTable } from '@backoffice/service-runtime'
import type { Place, Vault } from '@backoffice/vault'
import { isEventToSeal } from '@backoffice/vault/copies'

// A delivery is a copy of its event, and a receiver may reply with what it was sent. Both are sealed where the event has
// personal data that must be.

const placeOfBody = (deliveryId: string): Place => ({ column: 'delivery.body', row: deliveryId })

interface AttemptKey {
  readonly deliveryId: string
  readonly number: number
}
const placeOfHead = ({ deliveryId, number }: AttemptKey): Place => ({
  column: 'attempt.sealed_response_head',
  row: `${deliveryId} ${number}`,
})

/** @param type of the event */
export const storedBody = (vault: Vault, { id, type }: { readonly id: string; readonly type: string }, body: Buffer) =>
  isEventToSeal(type) ? vault.sealBytes(body, placeOfBody(id)) : body

/** @throws when it was sealed under a master key that is not known */
export const openBody = (
  vault: Vault,
  { deliveryId, body }: { readonly deliveryId: string; readonly body: Buffer },
): Buffer => vault.openBytes(body, placeOfBody(deliveryId))

export interface StoredHead {
  readonly responseHead: string | null
  readonly sealedResponseHead: string | null
}

/** @param type of the event */
export const storedHead = (vault: Vault, type: string, attempt: AttemptKey, head: string | null): StoredHead =>
  head !== null && vault.seals && isEventToSeal(type)
    ? { responseHead: null, sealedResponseHead: vault.seal(head, placeOfHead(attempt)) }
    : { responseHead: head, sealedResponseHead: null }

export const openHead = (vault: Vault, attempt: AttemptKey, stored: StoredHead): string | null =>
  stored.sealedResponseHead === null ? stored.responseHead : vault.open(stored.sealedResponseHead, placeOfHead(attempt))

export const sealedTables: readonly SealedTable[] = [
  {
    table: 'delivery',
    key: 'id text',
    reads: 'type text, body bytea',
    writes: 'body bytea',
    renew({ id, type, body }, vault) {
      const renewed = isEventToSeal(type) ? vault.renewBytes(body, placeOfBody(id)) : null
      return renewed === null ? null : { body: renewed }
    },
  },
  {
    table: 'attempt',
    key: 'delivery_id text, number int',
    reads: 'response_head text, sealed_response_head text',
    writes: 'response_head text, sealed_response_head text',
    renew({ responseHead, sealedResponseHead, ...attempt }, vault) {
      // An attempt does not say what was sent, so every response from before is sealed.
      if (sealedResponseHead === null)
        return responseHead !== null && vault.seals
          ? { responseHead: null, sealedResponseHead: vault.seal(responseHead, placeOfHead(attempt)) }
          : null
      const renewed = vault.renew(sealedResponseHead, placeOfHead(attempt))
      return renewed === null ? null : { responseHead: null, sealedResponseHead: renewed }
    },
  },
]
