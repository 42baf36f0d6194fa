import type { operations, Reply } from '@backoffice/contracts'
import { type Call, type ReadDb, type Tools, withIsoTimes } from '@backoffice/service-runtime'
import { sessionIn, type TeamCaller } from '@backoffice/team-identity'

/** Sessions of which the provider has given no name. */
export const unnamedSession = 'unnamed'

export type EndReason = 'locked' | 'session ended'

/**
 * Why somebody who has proven who they are may not act any more; undefined when they may. The gateway writes it down, and
 * each service reads it there: nothing has to be sent, so a service that was away has missed nothing.
 */
export async function endOf(
  db: ReadDb,
  { id, session, providerSession, issuedAt }: Pick<TeamCaller, 'id' | 'session' | 'providerSession' | 'issuedAt'>,
): Promise<EndReason | undefined> {
  const names = ['', session, providerSession ?? unnamedSession]
  const [ended] = await db<{ locked: boolean }>`
    select ended_before = 'infinity' as locked from gateway.ended_session
    where person_id = ${id} and session = any(${names}::text[]) and ended_before >= ${issuedAt}::timestamptz
    order by ended_before desc limit 1
  `
  if (ended === undefined) return undefined
  return ended.locked ? 'locked' : 'session ended'
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
    const ends = await Promise.all(own.map((one) => endOf(db, { id: caller.id, ...one })))
    const data = own.flatMap(({ session, client, issuedAt, endsAt, firstUsedAt }, index) => {
      if (ends[index] !== undefined || endsAt <= now) return []
      const times = { begunAt: issuedAt, endsAt, firstUsedAt }
      return [{ session, client, ...withIsoTimes(times) }]
    })
    return { data }
  }
