import type { Place, SealedTable, Vault } from '@backoffice/service-runtime'

/** What of a player is encrypted at rest. No look-up is by any of it. */
export interface Identity {
  readonly email: string
  readonly cpf: string
  readonly phone: string | null
}

/** The same as it is stored: either in the clear columns, or sealed as one and the clear columns empty. */
export type StoredIdentity = Identity & { readonly sealedIdentity: string | null }

const nothing: Identity = { email: '', cpf: '', phone: null }

const placeOf = (playerId: string): Place => ({ column: 'player.sealed_identity', row: playerId })

/** The columns of an identity as they are written now. */
export function storedIdentity(vault: Vault, playerId: string, { email, cpf, phone }: Identity): StoredIdentity {
  if (!vault.seals) return { email, cpf, phone, sealedIdentity: null }
  return { ...nothing, sealedIdentity: vault.seal(JSON.stringify({ email, cpf, phone }), placeOf(playerId)) }
}

/** The identity that columns stand for. */
export const identityOf = (vault: Vault, playerId: string, { sealedIdentity, ...clear }: StoredIdentity): Identity =>
  sealedIdentity === null ? clear : (JSON.parse(vault.open(sealedIdentity, placeOf(playerId))) as Identity)

export const identityColumns = 'email text, cpf text, phone text, sealed_identity text'

export const sealedPlayers: SealedTable = {
  table: 'player',
  key: 'id text',
  reads: identityColumns,
  writes: identityColumns,
  renew({ id, email, cpf, phone, sealedIdentity }, vault) {
    if (sealedIdentity === null) return vault.seals ? storedIdentity(vault, id, { email, cpf, phone }) : null
    const renewed = vault.renew(sealedIdentity, placeOf(id))
    return renewed === null ? null : { ...nothing, sealedIdentity: renewed }
  },
}
