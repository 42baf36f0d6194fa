// Records.

import type { Input, operations } from '@backoffice/contracts'
import { type ReadDb, sql } from '@backoffice/service-runtime'
import { type PlayerRecord, stroked } from './player.ts'
import { columns, cpfDigestsOf, emailDigestsOf, phoneDigestsOf, recordOf, type StoredPlayer } from './records.ts'

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

/** What players are searched by. */
export type SearchedBy =
  | { readonly playerId: string }
  | { readonly externalId: string }
  | { readonly cpf: string }
  | { readonly email: string }
  | { readonly phone: string }
  /** Beginnings of words, in small letters and without accents. */
  | { readonly words: readonly string[] }

type PlayerSearch = Pick<
  Input<typeof operations.players.searchPlayers>,
  'operatorId' | 'brandId' | 'environment' | 'before' | 'limit'
> & { readonly by: SearchedBy }

/** Comes after every id. */
const afterAllIds = '~'

/** Players of all operators, newest first. */
export async function searchPlayers(db: ReadDb, { by, limit, ...filter }: PlayerSearch): Promise<PlayerRecord[]> {
  const { operatorId = null, brandId = null, environment = null, before = afterAllIds } = filter
  const found = await db<StoredPlayer>`
    select ${columns} from player
    where ${isFoundBy(db, by)} and id < ${before}
      and (${operatorId}::text is null or operator_id = ${operatorId})
      and (${brandId}::text is null or brand_id = ${brandId})
      and (${environment}::text is null or environment = ${environment})
    order by id desc limit ${limit}
  `
  return found.map((player) => recordOf(db, player))
}

/** Statements of their own, since each uses another index. */
function isFoundBy({ vault }: ReadDb, by: SearchedBy) {
  if ('playerId' in by) return sql`id = ${by.playerId}`
  if ('externalId' in by) return sql`external_id = ${by.externalId}`
  if ('cpf' in by) return sql`cpf_digest = any(${cpfDigestsOf(vault, by.cpf)}::text[])`
  if ('email' in by) return sql`email_digest = any(${emailDigestsOf(vault, by.email)}::text[])`
  if ('phone' in by) return sql`phone_digest = any(${phoneDigestsOf(vault, by.phone)}::text[])`
  const beginnings = by.words.map((word) => `'${word}':*`).join(' & ')
  return sql`name_words(name) @@ to_tsquery('simple'::regconfig, ${beginnings})`
}

/** What everybody sees of a player now, as `seenPlayer` and `kycAt` say it, for a filter. */
const seenColumns = (() => {
  const runs = sql`(status = 'autoexcluido' or self_excluded_from is not null
    and (self_excluded_until is null or self_excluded_until > now()))`
  return {
    status: sql`case when ${runs} or cpf_digest in (
      select cpf_digest from player x where x.brand_id = player.brand_id
        and (status = 'autoexcluido' or self_excluded_from is not null) and ${runs}
    ) then 'autoexcluido' else status end`,
    kycStatus: sql`case when kyc_status = 'aprovado' and kyc_expires_at <= now() then 'expirado' else kyc_status end`,
  }
})()

/** A page of a brand's players, newest first. A filter that is not given is not in the statement. */
export async function listBrandPlayers(
  db: ReadDb,
  { brandId, before = afterAllIds, externalId, status, kycStatus, limit }: Input<typeof operations.players.listPlayers>,
): Promise<PlayerRecord[]> {
  const listed = await db<StoredPlayer>`
    select ${columns} from player where brand_id = ${brandId} and id < ${before}
      ${externalId === undefined ? sql`` : sql`and external_id = ${externalId}`}
      ${status === undefined ? sql`` : sql`and ${seenColumns.status} = ${status}`}
      ${kycStatus === undefined ? sql`` : sql`and ${seenColumns.kycStatus} = ${kycStatus}`}
    order by id desc limit ${limit}
  `
  return listed.map((player) => recordOf(db, player))
}
