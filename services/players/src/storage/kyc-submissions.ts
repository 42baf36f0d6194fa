import { type Environment, environments, type operations, type Reply, submissionsBytesMax } from '@backoffice/contracts'
import { columnNames, type Db, type ReadDb, rowsOf, type WithTimes } from '@backoffice/service-runtime'

export interface KycSubmission {
  readonly id: string
  readonly playerId: string
  readonly documentType: string
  readonly reference: string
  readonly submittedAt: Date
}

const columns = 'id text, player_id text, document_type text, reference text, submitted_at timestamptz'

export async function insertSubmissions(db: Db, submissions: readonly KycSubmission[]): Promise<void> {
  await db`insert into kyc_submission ${rowsOf('new', submissions, columns)}`
}

const submissionsMax = 100
/** What a submission weighs as JSON besides its texts. */
const otherBytes = 128

/** The latest submissions of each player, most recent first. Very long ones are fewer: they are read for many at once. */
export async function latestSubmissions(
  db: ReadDb,
  playerIds: readonly string[],
  most = submissionsMax,
): Promise<KycSubmission[][]> {
  const submissions = await db<KycSubmission>`
    select ${columnNames(columns)} from (select distinct asked from unnest(${playerIds}::text[]) as asked) as player
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
export async function forgetReferences(db: Db, playerId: string): Promise<void> {
  await db`update kyc_submission set reference = ${forgottenReference} where player_id = ${playerId}`
}

type Shown = Reply<typeof operations.players.kycQueue>['data'][number]
export type WaitingPlayer = WithTimes<Omit<Shown, 'operatorName' | 'documentUrl' | 'taken'>, 'waitingSince'>

/** A place in the order of the queue. */
export interface QueuePlace {
  readonly waitingSince: Date
  readonly playerId: string
}

export interface QueueFilter {
  readonly operatorId?: string | undefined
  readonly brandId?: string | undefined
  /** Of both when it is undefined. */
  readonly environment?: Environment | undefined
  readonly after: QueuePlace | null
  readonly limit: number
}

/** Players whose documents wait for a decision, the longest wait first. */
export function findWaitingPlayers(
  db: ReadDb,
  { environment, after, limit, ...owner }: QueueFilter,
): Promise<WaitingPlayer[]> {
  const { operatorId = null, brandId = null } = owner
  const { waitingSince, playerId } = after ?? { waitingSince: new Date(0), playerId: '' }
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
      and (s.submitted_at, p.id) > (${waitingSince}::timestamptz, ${playerId}::text)
    order by s.submitted_at, p.id
    limit ${limit}
  `
}

/** An index begins with the environment, so both are named where none was asked for. */
const environmentsOf = (environment: Environment | undefined): readonly Environment[] =>
  environment === undefined ? environments : [environment]

export interface QueueState {
  readonly environment: Environment
  readonly waiting: number
  readonly oldestAt: Date | null
}

/** How many players the queue has, and since when the longest of them waits, for each environment. */
export function countWaitingPlayers(db: ReadDb, environment: Environment | undefined): Promise<QueueState[]> {
  return db<QueueState>`
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
