import type { Db, ReadDb } from '@backoffice/service-runtime'

/** Whose sessions, and which of them: one by its thumbprint or the provider's name of it, or all. */
export interface SessionsOf {
  readonly personId: string
  readonly session?: string | undefined
  readonly before: Date
}

/** Ends what has begun until then. */
export async function endSessions(db: Db, { personId, session = '', before }: SessionsOf): Promise<void> {
  await db`
    insert into ended_session (person_id, session, ended_before)
    values (${personId}, ${session}, ${before}::timestamptz)
    on conflict (person_id, session) do update
    set ended_before = greatest(ended_session.ended_before, excluded.ended_before)
  `
}

export async function lockMember(db: Db, personId: string): Promise<void> {
  await db`
    insert into ended_session (person_id, session, ended_before) values (${personId}, '', 'infinity')
    on conflict (person_id, session) do update set ended_before = excluded.ended_before
  `
}

/** What was begun before stays ended: whoever was locked logs in anew. */
export async function unlockMember(db: Db, personId: string, now: Date): Promise<void> {
  await db`
    update ended_session set ended_before = ${now}::timestamptz
    where person_id = ${personId} and session = '' and ended_before = 'infinity'
  `
}

export const findLocked = (db: ReadDb, max: number): Promise<{ readonly member: string }[]> => db`
  select person_id as member from ended_session where ended_before = 'infinity' order by person_id limit ${max}
`
