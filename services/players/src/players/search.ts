// Records.

import { type Environment, environments, type Input, type operations } from '@backoffice/contracts'
import { firstId, hourMs } from '@backoffice/process'
import { type Fragment, type ReadDb, sql } from '@backoffice/service-runtime'
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

/** What everybody sees of a player now, as `seenPlayer` says it, for a filter. */
const seenStatus = (() => {
  const runs = sql`(status = 'autoexcluido' or self_excluded_from is not null
    and (self_excluded_until is null or self_excluded_until > now()))`
  // Asked of the one person, since a brand may have excluded very many: with `exists` all of them might be read. The first
  // condition on the others is that of their index.
  return sql`case when ${runs} or (
    select true from player x where x.brand_id = player.brand_id and x.cpf_digest = player.cpf_digest
      and (status = 'autoexcluido' or self_excluded_from is not null) and ${runs} limit 1
  ) then 'autoexcluido' else status end`
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
  const owner = brandId === undefined ? sql`environment` : sql`brand_id`
  const asked = brandId === undefined ? environmentsOf(environment) : [brandId]
  const matches = sql`
    ${owner} = asked and (${environment ?? null}::text is null or environment = ${environment ?? null})
    and (${from}::timestamptz is null or created_at >= ${from}::timestamptz)
    and (${to}::timestamptz is null or created_at < ${to}::timestamptz)
    ${externalId === undefined ? sql`` : sql`and external_id = ${externalId}`} ${isSeenAs(status)} ${isStoredAs(kycStatus)}
  `
  const found =
    status === 'autoexcluido'
      ? sql`
          ${excludedBefore(owner, before < highest ? before : highest)} cross join lateral (
            -- Its limit has the planner read those who were told no further than the page goes.
            select * from player where id = told.id and ${matches} limit 1
          ) player
          order by told.id desc limit ${limit}
        `
      : sql`
          player where ${matches} and id < ${before} and id >= ${lowest} and id < ${highest}
          order by id desc limit ${limit}
        `
  const listed = await db<StoredPlayer>`
    select ${columns} from unnest(${asked}::text[]) as asked cross join lateral (select player.* from ${found}) player
    order by id desc limit ${limit}
  `
  return listed.map((player) => recordOf(db, player))
}

/**
 * Whose operator was told that they are self-excluded, by accounts of their own or others of the person. By their ids alone
 * the planner would go through the key of all that was ever told.
 */
const excludedBefore = (owner: Fragment, before: string) => sql`
  (
    select player_id as id from told_status
    where status = 'autoexcluido' and ${owner} = asked and (${owner}, player_id) < (asked, ${before}::text)
  ) told
`

// What most players have is found by going through them. Of the rest an index has each status, so its condition is named.

function isSeenAs(status: PlayerList['status']): Fragment {
  if (status === undefined) return sql``
  const seen = sql`and ${seenStatus} = ${status}`
  if (status === 'autoexcluido') return seen
  return status === 'ativo'
    ? sql`and status = 'ativo' ${seen}`
    : sql`and status <> 'ativo' and status = ${status} ${seen}`
}

/** An approval whose term is over is in no list until the sweep has written `expirado`, which takes seconds. */
function isStoredAs(kycStatus: PlayerList['kycStatus']): Fragment {
  if (kycStatus === undefined) return sql``
  return kycStatus === 'aprovado' || kycStatus === 'nao_iniciado'
    ? sql`and kyc_status = ${kycStatus} and (kyc_expires_at is null or kyc_expires_at > now())`
    : sql`and kyc_status not in ('aprovado', 'nao_iniciado') and kyc_status = ${kycStatus}`
}
