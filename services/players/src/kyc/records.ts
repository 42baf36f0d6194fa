import { randomBytes } from 'node:crypto'
import {
  agedMax,
  ageFromHours,
  documentRoles,
  type Environment,
  type IdOf,
  type Input,
  type operations,
  type Reply,
  submissionsBytesMax,
  type TeamRole,
  timedMax,
} from '@backoffice/contracts'
import type { Place } from '@backoffice/database/vault'
import { type Db, type Fragment, type ReadDb, sql, type WithTimes } from '@backoffice/service-runtime'
import { type SealedTable, timeByDay } from '@backoffice/team-access'
import { environmentsOf } from '../players/search.ts'
import type { DocumentSource, TakenCase } from './review.ts'

export interface KycSubmission {
  readonly id: string
  readonly playerId: IdOf<'player'>
  readonly documentType: string
  readonly reference: string
  readonly submittedAt: Date
}

/** With the salt of the digest of what a reviewer saw. */
export interface StoredSubmission extends KycSubmission {
  readonly salt: string
}

const submissionColumns = 'id text, player_id text, document_type text, reference text, submitted_at timestamptz'

export const insertSubmissions = (submissions: readonly KycSubmission[]): Fragment =>
  sql`insert into kyc_submission ${sql.rows('new', submissions, submissionColumns)}`

const submissionsMax = 100
/** What a submission weighs as JSON besides its texts. */
const otherBytes = 128

/** The latest submissions of each player, most recent first. Very long ones are fewer: they are read for many at once. */
export async function latestSubmissions(
  db: ReadDb,
  playerIds: readonly string[],
  most = submissionsMax,
): Promise<StoredSubmission[][]> {
  const submissions = await db<StoredSubmission>`
    select ${sql.columns(`${submissionColumns}, salt text`)} from (select distinct asked from unnest(${playerIds}::text[]) as asked) as player
    cross join lateral (
      select *, sum(octet_length(to_json(document_type)::text) + octet_length(to_json(reference)::text) + ${otherBytes}::int)
        over (order by submitted_at desc, id desc) as bytes
      from (
        select * from kyc_submission where player_id = asked order by submitted_at desc, id desc limit ${most}
      ) latest
    ) s
    where bytes <= ${submissionsBytesMax}::int
    order by player_id, submitted_at desc, id desc
  `
  const byPlayer = Map.groupBy(submissions, ({ playerId }) => playerId)
  return playerIds.map((id) => byPlayer.get(id) ?? [])
}

/** What stands for a reference that was replaced. A trigger of the table allows this text alone. */
export const forgottenReference = 'anonymised'

/** Replaces the references to a player's documents. */
export async function forgetReferences(db: Db, playerId: IdOf<'player'>): Promise<void> {
  await db`update kyc_submission set reference = ${forgottenReference}, salt = '' where player_id = ${playerId}`
}

type Shown = Reply<typeof operations.players.kycQueue>['data'][number]
export type WaitingPlayer = WithTimes<Omit<Shown, 'operatorName' | 'documentUrl' | 'taken'>, 'waitingSince'>

/** A place in the order of the queue. */
export interface QueuePlace {
  readonly waitingSince: Date
  readonly playerId: IdOf<'player'>
}

type KycQueueFilter = Omit<Input<typeof operations.players.kycQueue>, 'after'> & { readonly after: QueuePlace | null }

/** Players whose documents wait for a decision, the longest wait first unless another order is asked for. */
export function findWaitingPlayers(
  db: ReadDb,
  { environment, order, after, limit, ...owner }: KycQueueFilter,
): Promise<WaitingPlayer[]> {
  const { operatorId = null, brandId = null, from = null, to = null } = owner
  const { waitingSince, playerId } = after ?? { waitingSince: new Date(0), playerId: '' }
  const place = sql`(${waitingSince}::timestamptz, ${playerId}::text)`
  const isNewestFirst = order === 'newest'
  const isBelow = isNewestFirst
    ? sql`(${after === null}::boolean or (s.submitted_at, p.id) < ${place})`
    : sql`(s.submitted_at, p.id) > ${place}`
  return db<WaitingPlayer>`
    select p.id as player_id, p.operator_id, p.brand_id, p.environment, p.name, p.kyc_status, s.submissions,
      s.document_type as latest_document_type, s.reference as latest_reference, s.submitted_at as waiting_since
    from player p
    join lateral (
      select document_type, reference, submitted_at, (count(*) over ())::int as submissions
      from kyc_submission where player_id = p.id order by submitted_at desc, id desc limit 1
    ) s on true
    where p.kyc_status in ('pendente', 'em_analise') and p.environment = any(${environmentsOf(environment)}::text[])
      and (${operatorId}::text is null or p.operator_id = ${operatorId})
      and (${brandId}::text is null or p.brand_id = ${brandId})
      and s.submitted_at >= coalesce(${from}::timestamptz, '-infinity')
      and s.submitted_at < coalesce(${to}::timestamptz, 'infinity')
      and ${isBelow}
    order by ${isNewestFirst ? sql`s.submitted_at desc, p.id desc` : sql`s.submitted_at, p.id`}
    limit ${limit}
  `
}

export interface KycQueueState {
  readonly environment: Environment
  readonly waiting: number
  readonly oldestAt: Date | null
}

/** How many players the queue has, and since when the longest of them waits, for each environment. */
export function countWaitingPlayers(db: ReadDb, environment: Environment | undefined): Promise<KycQueueState[]> {
  return db<KycQueueState>`
    select asked as environment, waiting, oldest_at
    from unnest(${environmentsOf(environment)}::text[]) with ordinality as e (asked, place)
    cross join lateral (
      select count(s.submitted_at)::int as waiting, min(s.submitted_at) as oldest_at
      from player p
      cross join lateral (select max(submitted_at) as submitted_at from kyc_submission where player_id = p.id) s
      where p.environment = asked and p.kyc_status in ('pendente', 'em_analise')
    ) queue
    order by place
  `
}

interface QueueAge {
  readonly fromHours: number
  readonly waiting: number
}

/** How many players wait, by how long since their latest document: so many as are looked at. */
export const ageWaitingPlayers = (db: ReadDb, environment: Environment, now: Date): Promise<QueueAge[]> =>
  db<QueueAge>`
    select f.from_hours, count(*)::int as waiting
    from (
      select s.submitted_at from player p
      cross join lateral (select max(submitted_at) as submitted_at from kyc_submission where player_id = p.id) s
      where p.environment = ${environment} and p.kyc_status in ('pendente', 'em_analise') and s.submitted_at is not null
      order by p.id limit ${agedMax}
    ) w
    cross join lateral (
      select max(hours) as from_hours from unnest(${ageFromHours}::int[]) as hours
      where hours = 0 or w.submitted_at <= ${now}::timestamptz - make_interval(hours => hours)
    ) f
    group by 1 order by 1
  `

/** So many changes of a day are looked at for each decision: those of the other environment are among them, and submissions. */
const changesPerDecision = 10

/** How long decisions took from the latest document on, by the day on which they were made: of each day the last ones. */
export const timeDecisions = timeByDay(
  ({ environment, begin, end }) => sql`
    select extract(epoch from c.at - s.submitted_at) as seconds
    from (
      select player_id, next, at from player_change where field = 'kycStatus' and at >= ${begin} and at < ${end}
      order by at desc limit ${timedMax * changesPerDecision}
    ) c
    cross join lateral (select environment from player where id = c.player_id limit 1) p
    cross join lateral (
      select submitted_at from kyc_submission where player_id = c.player_id and submitted_at <= c.at
      order by id desc limit 1
    ) s
    where c.next in ('aprovado', 'reprovado', 'documento_solicitado') and p.environment = ${environment}
    order by c.at desc limit ${timedMax}
  `,
)

const takenColumns = sql.columns('player_id text, taken_by text, taken_at timestamptz')

/** By player. Some may count no longer. */
export async function findTakenCases(
  db: ReadDb,
  playerIds: readonly string[],
): Promise<ReadonlyMap<string, TakenCase>> {
  const taken = await db<TakenCase>`select ${takenColumns} from taken_case where player_id = any(${playerIds}::text[])`
  return new Map(taken.map((row) => [row.playerId, row]))
}

/** Writes who has a case, in place of who had it. The player's row must be locked. */
export async function saveTakenCase(db: Db, { playerId, takenBy, takenAt }: TakenCase): Promise<void> {
  await db`
    insert into taken_case (player_id, taken_by, taken_at) values (${playerId}, ${takenBy}, ${takenAt}::timestamptz)
    on conflict (player_id) do update set taken_by = excluded.taken_by, taken_at = excluded.taken_at
  `
}

/** The players' rows must be locked. */
export const removeTakenCases = (playerIds: readonly string[]): Fragment =>
  sql`delete from taken_case where player_id = any(${playerIds}::text[])`

/** An operator in one environment. */
export interface SourceKey {
  readonly operatorId: IdOf<'operator'>
  readonly environment: Environment
}

interface StoredSource extends SourceKey {
  readonly template: string | null
  readonly sealedKey: string
  readonly templateChangedAt: Date | null
}

const nameOf = ({ operatorId, environment }: SourceKey): string => `${operatorId}/${environment}`
const placeOf = (key: SourceKey): Place => ({ column: 'document_source.sealed_key', row: nameOf(key) })

/** A new key: a prefix that says what it is, and 32 random bytes. */
const newKey = (): string => `docsec_${randomBytes(32).toString('base64url')}`

/**
 * Of several operators: where the documents of each open for somebody with these roles, by `sourceOf`. Those without links
 * are left out.
 */
export async function findSources(
  db: ReadDb,
  keys: readonly SourceKey[],
  roles: ReadonlySet<TeamRole>,
): Promise<ReadonlyMap<string, DocumentSource>> {
  if (!documentRoles.some((role) => roles.has(role))) return new Map()
  const asked = [...new Map(keys.map((key) => [nameOf(key), key])).values()]
  const stored = await db<StoredSource & { readonly template: string }>`
    select operator_id, environment, template, sealed_key, template_changed_at from document_source
    join ${sql.unnest('asked', asked, 'operator_id text, environment text')} using (operator_id, environment)
    where template is not null
  `
  return new Map(
    stored.map((source) => {
      const { template, sealedKey, templateChangedAt: changedAt } = source
      return [nameOf(source), { template, key: db.vault.open(sealedKey, placeOf(source)), changedAt }]
    }),
  )
}

export const sourceOf = (sources: ReadonlyMap<string, DocumentSource>, key: SourceKey): DocumentSource | undefined =>
  sources.get(nameOf(key))

interface ShownSource extends Pick<StoredSource, 'template'> {
  readonly keyCreatedAt: Date
}

const isOf = ({ operatorId, environment }: SourceKey) =>
  sql`operator_id = ${operatorId} and environment = ${environment}`

export async function readSource(db: ReadDb, key: SourceKey): Promise<ShownSource | undefined> {
  const [source] = await db<ShownSource>`select template, key_created_at from document_source where ${isOf(key)}`
  return source
}

/** As it is until `changeSource` changes it. */
export async function lockSource(db: Db, key: SourceKey): Promise<ShownSource | undefined> {
  const [source] = await db<ShownSource>`
    select template, key_created_at from document_source where ${isOf(key)} for no key update
  `
  return source
}

export interface SourceChange extends SourceKey {
  readonly template: string | null
  readonly replacesKey: boolean
  readonly now: Date
}

/** Sets the template, and makes a key if there is none or it is to be replaced. @returns the key, if it was made */
export async function changeSource(
  db: Db,
  { template, replacesKey, now, ...key }: SourceChange,
): Promise<{ readonly keyCreatedAt: Date; readonly secret: string | null }> {
  const secret = newKey()
  const sealed = db.vault.seal(secret, placeOf(key))
  const [stored] = await db<{ keyCreatedAt: Date; sealedKey: string }>`
    insert into document_source as s (operator_id, environment, template, sealed_key, key_created_at, template_changed_at)
    values (${key.operatorId}, ${key.environment}, ${template}, ${sealed}, ${now}::timestamptz, ${now}::timestamptz)
    on conflict (operator_id, environment) do update set template = excluded.template,
      template_changed_at = case when excluded.template is distinct from s.template then excluded.template_changed_at
        else s.template_changed_at end,
      sealed_key = case when ${replacesKey}::bool then excluded.sealed_key else s.sealed_key end,
      key_created_at = case when ${replacesKey}::bool then excluded.key_created_at else s.key_created_at end
    returning key_created_at, sealed_key
  `
  if (stored === undefined) throw new Error('an insert that updates on conflict returns its row')
  return { keyCreatedAt: stored.keyCreatedAt, secret: stored.sealedKey === sealed ? secret : null }
}

export const sealedSources: SealedTable = {
  table: 'document_source',
  key: 'operator_id text, environment text',
  reads: 'sealed_key text',
  writes: 'sealed_key text',
  renew({ operatorId, environment, sealedKey }, vault) {
    const renewed = vault.renew(sealedKey, placeOf({ operatorId, environment }))
    return renewed === null ? null : { sealedKey: renewed }
  },
}
