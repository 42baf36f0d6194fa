import type { operations, Reply } from '@backoffice/contracts'
import { type Call, type ReadDb, type Tools, withIsoTimes } from '@backoffice/service-runtime'
import { sessionIn, type TeamCaller } from '../identity/index.ts'

/** Sessions of which the provider has given no name. */
export const unnamedSession = 'unnamed'

/** The provider may end a session without saying whose it is. */
const issuerOf = (id: string): string => id.split(' ', 1)[0] ?? ''

export type EndReason = 'locked' | 'session ended'

/**
 * Why somebody who has proven who they are may not act any more; undefined when they may. The gateway writes it down, and
 * each service reads it there: nothing has to be sent, so a service that was away has missed nothing.
 */
export async function endOf(
  db: ReadDb,
  { id, session, providerSession, issuedAt }: Pick<TeamCaller, 'id' | 'session' | 'providerSession' | 'issuedAt'>,
): Promise<EndReason | undefined> {
  const ends = [
    ...['', session, providerSession ?? unnamedSession].map((name) => [id, name] as const),
    ...(providerSession === undefined ? [] : [[issuerOf(id), providerSession] as const]),
  ]
  const [ended] = await db<{ locked: boolean }>`
    select ended_before = 'infinity' as locked from gateway.ended_session
    where (person_id, session) in (
        select * from unnest(${ends.map(([who]) => who)}::text[], ${ends.map(([, name]) => name)}::text[])
      ) and ended_before >= ${issuedAt}::timestamptz
    order by ended_before desc limit 1
  `
  if (ended === undefined) return undefined
  return ended.locked ? 'locked' : 'session ended'
}

type Own = Pick<TeamCaller, 'session' | 'providerSession' | 'issuedAt'>

/** Which sessions of one person are over, as `endOf` says it of one. */
async function findEnded(db: ReadDb, personId: string, own: readonly Own[]): Promise<ReadonlySet<string>> {
  const rows = await db<{ session: string }>`
    select s.session from unnest(
      ${own.map(({ session }) => session)}::text[],
      ${own.map(({ providerSession }) => providerSession ?? unnamedSession)}::text[],
      ${own.map(({ issuedAt }) => issuedAt)}::timestamptz[]
    ) s (session, provider_session, issued_at)
    where exists (
      select from gateway.ended_session e where e.ended_before >= s.issued_at and (
        (e.person_id = ${personId} and e.session in ('', s.session, s.provider_session))
        or (e.person_id = ${issuerOf(personId)} and e.session = s.provider_session)
      )
    )
  `
  return new Set(rows.map(({ session }) => session))
}

type ListOwnSessions = (typeof operations)['gateway']['listOwnSessions']

const hourMs = 3_600_000
const shownMax = 50

/** Answers the `listOwnSessions` operation of any service. @param sessionHours how long a session lives */
export const readOwnSessions =
  (sessionHours: number) =>
  async ({ caller }: Call<ListOwnSessions>, { db, now }: Tools['query']): Promise<Reply<ListOwnSessions>> => {
    const rows = await db<{ session: string; idToken: string | null; firstUsedAt: Date }>`
      select session, id_token, first_used_at from team_session
      where person_id = ${caller.id} and first_used_at > ${new Date(now.getTime() - sessionHours * hourMs)}::timestamptz
      order by first_used_at desc limit ${shownMax}
    `
    // A machine has none.
    const own = rows.flatMap(({ session, idToken, firstUsedAt }) =>
      idToken === null ? [] : [{ session, firstUsedAt, ...sessionIn(idToken, sessionHours) }],
    )
    const ended = await findEnded(db, caller.id, own)
    const data = own.flatMap(({ session, client, issuedAt, endsAt, firstUsedAt }) => {
      if (ended.has(session) || endsAt <= now) return []
      const times = { begunAt: issuedAt, endsAt, firstUsedAt }
      return [{ session, client, ...withIsoTimes(times) }]
    })
    return { data }
  }
