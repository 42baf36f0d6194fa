import { invalid, operations } from '@backoffice/contracts'
import { type Db, handle, type ReadDb } from '@backoffice/service-runtime'
import { byService, insertAudit, unnamedSession } from '@backoffice/team-access'

/** Whose sessions, and which of them: one by its thumbprint or the provider's name of it, or all. */
interface SessionsOf {
  readonly personId: string
  readonly session?: string | undefined
  readonly before: Date
}

/** Ends what has begun until then. */
async function endSessions(db: Db, { personId, session = '', before }: SessionsOf): Promise<void> {
  await db`
    insert into ended_session (person_id, session, ended_before)
    values (${personId}, ${session}, ${before}::timestamptz)
    on conflict (person_id, session) do update
    set ended_before = greatest(ended_session.ended_before, excluded.ended_before)
  `
}

async function lockMember(db: Db, personId: string): Promise<void> {
  await db`
    insert into ended_session (person_id, session, ended_before) values (${personId}, '', 'infinity')
    on conflict (person_id, session) do update set ended_before = excluded.ended_before
  `
}

/** What was begun before stays ended: whoever was locked logs in anew. */
async function unlockMember(db: Db, personId: string, now: Date): Promise<void> {
  await db`
    update ended_session set ended_before = ${now}::timestamptz
    where person_id = ${personId} and session = '' and ended_before = 'infinity'
  `
}

const findLocked = (db: ReadDb, max: number): Promise<{ readonly member: string }[]> => db`
  select person_id as member from ended_session where ended_before = 'infinity' order by person_id limit ${max}
`

/** An ID token may be of a clock that is a minute ahead, and one session is never begun again. */
const everOf = (now: Date): Date => new Date(now.getTime() + 60_000)

/** One's own, whichever is named: the account is the caller's. */
export const endSession = handle(operations.gateway.endSession, {
  async execute({ input: { session }, caller }, { db, now }) {
    await endSessions(db, { personId: caller.id, session, before: session === undefined ? now : everOf(now) })
    return { endedAt: now.toISOString() }
  },
})

/** Where the provider names one session, those of which it has named none end too: nobody can tell which one they are. It need not say whose it is. */
export const endProviderSession = handle(
  operations.gateway.endProviderSession,
  async ({ caller, operationId }, { db, now, newId }) => {
    const { id: personId, name: actor, issuedAt, providerSession } = caller
    await db.transaction(async (tx) => {
      if (providerSession === undefined) await endSessions(tx, { personId, before: issuedAt })
      else {
        await endSessions(tx, { personId, session: providerSession, before: everOf(issuedAt) })
        if (personId.includes(' ')) await endSessions(tx, { personId, session: unnamedSession, before: issuedAt })
      }
      const { id: operation } = operations.gateway.endProviderSession
      const what = { actor, operation, operationId, subject: null, reason: null, input: { member: personId } }
      await insertAudit(tx, [{ id: newId('aud'), ...byService, ...what }], now)
    })
    return { endedAt: issuedAt.toISOString() }
  },
)

export const lockTeamMember = handle(operations.gateway.lockTeamMember, {
  async execute({ input: { member }, caller }, { db }) {
    if (member === caller.id) throw invalid('body', '/member', 'is you: end all of your sessions instead')
    await lockMember(db, member)
    return { member, locked: true }
  },
})

export const unlockTeamMember = handle(operations.gateway.unlockTeamMember, {
  async execute({ input: { member } }, { db, now }) {
    await unlockMember(db, member, now)
    return { member, locked: false }
  },
})

const lockedMax = 300

export const listLockedMembers = handle(operations.gateway.listLockedMembers, async (_call, { db }) => ({
  data: await findLocked(db, lockedMax),
}))
