// Records.

import { isDeepStrictEqual } from 'node:util'
import { cpfDigits } from '@backoffice/contracts'
import { sql } from '@backoffice/service-runtime'
import type { PlayerTable, SealedTable } from '@backoffice/team-desk'
import type { Place, Vault } from '@backoffice/vault'
import { isAnonymised, stroked } from './player.ts'

/** What of a player is encrypted at rest. */
export interface Identity {
  readonly email: string
  readonly cpf: string
  readonly phone: string | null
}

/** The same as it is stored: either in the clear columns, or sealed as one and the clear columns empty. */
export type StoredIdentity = Identity & { readonly sealedIdentity: string | null }

/** What an identity is found by, and one person told from another. Null: nobody's, or there are no keys. */
export interface IdentityDigests {
  readonly cpfDigest: string | null
  readonly emailDigest: string | null
  /** Also null where the identity has no number. */
  readonly phoneDigest: string | null
}

const noDigests: IdentityDigests = { cpfDigest: null, emailDigest: null, phoneDigest: null }

const nothing: Identity = { email: '', cpf: '', phone: null }

const placeOf = (playerId: string): Place => ({ column: 'player.sealed_identity', row: playerId })

/** The columns of an identity as they are written now. */
export function storedIdentity(
  vault: Vault,
  playerId: string,
  { email, cpf, phone }: Identity,
): StoredIdentity & IdentityDigests {
  const digests = digestsOf(vault, { email, cpf, phone })
  if (!vault.seals) return { email, cpf, phone, sealedIdentity: null, ...digests }
  const sealedIdentity = vault.seal(JSON.stringify({ email, cpf, phone }), placeOf(playerId))
  return { ...nothing, sealedIdentity, ...digests }
}

/** Digests of a CPF under each master key, the newest first: with punctuation or without is the same. */
export const cpfDigestsOf = (vault: Vault, cpf: string): string[] =>
  vault.lookupDigests(cpfDigits(cpf) ?? cpf, 'player.cpf_digest')

/** The same of an e-mail address. Case does not matter: people write it in several ways. */
export const emailDigestsOf = (vault: Vault, email: string): string[] =>
  vault.lookupDigests(email.trim().toLowerCase(), 'player.email_digest')

/** The same of a telephone number. Brazil's code may stand before it or not: operators and callers write either. */
export const phoneDigestsOf = (vault: Vault, phone: string): string[] =>
  vault.lookupDigests(phone.replace(/^\+/, '').replace(/^55(?=\d{10,11}$)/, ''), 'player.phone_digest')

function digestsOf(vault: Vault, identity: Identity): IdentityDigests {
  if (isAnonymised(identity)) return noDigests
  const [cpfDigest = null] = cpfDigestsOf(vault, identity.cpf)
  const [emailDigest = null] = emailDigestsOf(vault, identity.email)
  const [phoneDigest = null] = identity.phone === null ? [] : phoneDigestsOf(vault, identity.phone)
  return { cpfDigest, emailDigest, phoneDigest }
}

/** The identity that columns stand for. */
export const identityOf = (vault: Vault, playerId: string, { sealedIdentity, ...clear }: StoredIdentity): Identity =>
  sealedIdentity === null ? clear : (JSON.parse(vault.open(sealedIdentity, placeOf(playerId))) as Identity)

export const identityColumns = 'email text, cpf text, phone text, sealed_identity text'
/** They are written and compared, and never read with a player. */
export const digestColumns = 'cpf_digest text, email_digest text, phone_digest text'
const columns = `${identityColumns}, ${digestColumns}`

export const sealedPlayers: SealedTable = {
  table: 'player',
  key: 'id text',
  reads: columns,
  writes: columns,
  renew({ id, email, cpf, phone, sealedIdentity, cpfDigest, emailDigest, phoneDigest }, vault) {
    if (sealedIdentity === null) return vault.seals ? storedIdentity(vault, id, { email, cpf, phone }) : null
    const renewed = vault.renew(sealedIdentity, placeOf(id))
    const stored: IdentityDigests = { cpfDigest, emailDigest, phoneDigest }
    const isCurrent = Object.values(stored).every((digest) => digest !== null && vault.isNewest(digest))
    if (renewed === null && (isCurrent || !vault.seals)) return null
    const digests = vault.seals ? digestsOf(vault, identityOf(vault, id, { ...nothing, sealedIdentity })) : stored
    if (renewed === null && isDeepStrictEqual(digests, stored)) return null
    return { ...nothing, sealedIdentity: renewed ?? sealedIdentity, ...digests }
  },
}

type Values = Readonly<Record<string, string | null>>

/** Without the sealed column and the digests, which nobody can read. */
function openPlayer(row: Values, vault: Vault): Values {
  const { sealed_identity: sealedIdentity = null, ...others } = row
  const { cpf_digest: _, email_digest: __, phone_digest: ___, ...values } = others
  const { id, email, cpf, phone = null } = values
  const clear = { email: email ?? '', cpf: cpf ?? '', phone }
  return { ...values, ...identityOf(vault, id ?? '', { ...clear, sealedIdentity }) }
}

/** Every table with rows about players, but for copies, which are purged after days. */
export const playerTables: readonly PlayerTable[] = [
  { table: 'player', key: 'id', isAbout: (playerId) => sql`id = ${playerId}`, open: openPlayer },
  { table: 'kyc_submission', key: 'id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'player_change', key: 'id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'taken_case', key: 'player_id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'game_session', key: 'id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'audit_entry', key: 'id', isAbout: (playerId) => sql`subject = ${playerId}` },
  { table: 'team_proposal', key: 'id', isAbout: (playerId) => sql`input ->> 'playerId' = ${playerId}` },
]

/** As many as a long name has. */
const wordsMax = 12

/**
 * The words of what somebody types for a name, as the index of names has them: in small letters, without accents and without
 * what stands between words.
 */
export function nameWords(typed: string): string[] {
  const plain = typed
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/\P{ASCII}/gu, (letter) => stroked.plain[stroked.letters.indexOf(letter)] ?? letter)
    .toLowerCase()
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, wordsMax)
}
