import { type operations, type Reply, type TeamMember, teamMembersMax } from '@backoffice/contracts'
import type { Call, QueryTools } from './handle.ts'
import { type WithTimes, withIsoTimes } from './page.ts'

type ListSessions = (typeof operations)['gateway']['listSessions']

/** Answers the `listSessions` operation of any service. */
export async function readMembers({ input }: Call<ListSessions>, { db }: QueryTools): Promise<Reply<ListSessions>> {
  const rows = await db<WithTimes<TeamMember, 'latestSessionAt'>>`
    select person as name, kind, max(first_used_at) as latest_session_at
    from team_session where first_used_at >= ${input.since}::timestamptz
    group by person, kind order by latest_session_at desc, name limit ${teamMembersMax}
  `
  return { data: rows.map(withIsoTimes) }
}
