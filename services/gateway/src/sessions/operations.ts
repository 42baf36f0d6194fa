import { invalid, operations } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { endSessions, findLocked, lockMember, unlockMember } from './records.ts'

/** One's own, whichever is named: the account is the caller's. */
export const endSession = handle(operations.gateway.endSession, {
  async execute({ input: { session }, caller }, { db, now }) {
    await endSessions(db, { personId: caller.id, session }, now)
    return { endedAt: now.toISOString() }
  },
})

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

const lockedMax = 1_000

export const listLockedMembers = handle(operations.gateway.listLockedMembers, async (_call, { db }) => ({
  data: await findLocked(db, lockedMax),
}))
