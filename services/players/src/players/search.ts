// Records.

import { type Environment, environments, type Input, type operations } from '@backoffice/contracts'
import { firstId, hourMs } from '@backoffice/process'
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

/** An index begins with the environment, so both are named where none was asked for. */
export const environmentsOf = (environment: Environment | undefined): readonly Environment[] =>
  environment === undefined ? environments : [environment]

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

/** Whose own exclusion runs, or ran. An index has these players alone. */
const isMarked = sql`(status = 'autoexcluido' or self_excluded_from is not null)`

/** Whoever can be self-excluded now: those who are marked, and the other accounts of their person. They are found first. */
const mayBeExcluded = sql`id = any(array(
  select same.id from (select brand_id, cpf_digest, id from player where ${isMarked}) x cross join lateral (
    select x.id
    union all (select p.id from player p where p.brand_id = x.brand_id and p.cpf_digest = x.cpf_digest offset 0)
  ) same
))`

/** What everybody sees of a player now, as `seenPlayer` and `kycAt` say it, for a filter. */
const seenColumns = (() => {
  const runs = sql`(status = 'autoexcluido' or self_excluded_from is not null
    and (self_excluded_until is null or self_excluded_until > now()))`
  return {
    // Asked of the one person, since a brand may have excluded very many: with `exists` all of them might be read.
    status: sql`case when ${runs} or (
      select true from player x where x.brand_id = player.brand_id and x.cpf_digest = player.cpf_digest
        and ${isMarked} and ${runs} limit 1
    ) then 'autoexcluido' else status end`,
    kycStatus: sql`case when kyc_status = 'aprovado' and kyc_expires_at <= now() then 'expirado' else kyc_status end`,
  }
})()

/** The time in an id is that of the first attempt of the request, by another clock perhaps. */
const idAheadMs = hourMs

/** With the times that bound the list. */
type PlayerList = Omit<Input<typeof operations.players.listPlayers>, 'from' | 'to'> & {
  readonly from: Date | undefined
  readonly to: Date | undefined
}

/** Newest first. A filter that is not given is not in the statement. */
export async function listPlayers(
  db: ReadDb,
  { brandId, environment, before = afterAllIds, externalId, status, kycStatus, limit, ...period }: PlayerList,
): Promise<PlayerRecord[]> {
  const { from = null, to = null } = period
  const lowest = from === null ? '' : firstId('ply', new Date(from.getTime() - idAheadMs))
  const highest = to === null ? afterAllIds : firstId('ply', new Date(to.getTime() + idAheadMs))
  // Each uses another index.
  const whose = brandId === undefined ? sql`environment = asked` : sql`brand_id = asked`
  const asked = brandId === undefined ? environmentsOf(environment) : [brandId]
  const listed = await db<StoredPlayer>`
    select ${columns} from unnest(${asked}::text[]) as asked cross join lateral (
      select * from player where ${whose} and (${environment ?? null}::text is null or environment = ${environment ?? null})
        and id < ${before} and id >= ${lowest} and id < ${highest}
        and (${from}::timestamptz is null or created_at >= ${from}::timestamptz)
        and (${to}::timestamptz is null or created_at < ${to}::timestamptz)
        ${externalId === undefined ? sql`` : sql`and external_id = ${externalId}`}
        ${status === 'autoexcluido' ? sql`and ${mayBeExcluded}` : status === undefined ? sql`` : sql`and status = ${status}`}
        ${status === undefined ? sql`` : sql`and ${seenColumns.status} = ${status}`}
        ${kycStatus === undefined ? sql`` : sql`and ${seenColumns.kycStatus} = ${kycStatus}`}
      order by id desc limit ${limit}
    ) player
    order by id desc limit ${limit}
  `
  return listed.map((player) => recordOf(db, player))
}
