import { Type } from '@sinclair/typebox'
import { team } from '../operation.ts'
import { personal } from '../personal.ts'
import { Reason, Timestamp } from '../resources.ts'
import { arrayOf, Line, object, text } from '../schema.ts'
import { everyRole } from '../team.ts'

const Member = personal(
  'staff',
  Line({
    minLength: 1,
    maxLength: 512,
    description: 'The account: issuer and subject with a space between, or `machine` and its name.',
  }),
)

/** Whoever may lock somebody may also let them in again, but not alone. */
const lockRoles = ['integration', 'auditor'] as const

/**
 * Who of the team may not act any more. The gateway writes it down, because it always runs; every service looks there at
 * each call of the team.
 */
export const teamSessionEntries = {
  endSession: team.command({
    roles: everyRole,
    delegable: true,
    summary: 'End one of your sessions, or all of them: every service refuses it from then on',
    body: object({
      session: Type.Optional(
        text(64, { pattern: '^[\\w-]+$', description: 'The thumbprint of its key; all of your sessions when absent.' }),
      ),
      reason: Type.Optional(Reason),
    }),
    reply: object({ endedAt: Timestamp }),
  }),

  /** The token stands in the place of the ID token, and each service could verify it: the console is not believed. */
  endProviderSession: team.direct({
    roles: [],
    byIdentityProvider: true,
    alsoByItself: true,
    summary: 'End what the identity provider has logged out',
    reply: object({ endedAt: Timestamp }),
  }),

  lockTeamMember: team.command({
    roles: lockRoles,
    freshLogin: 'always',
    summary: 'Lock a person or a machine: every service refuses what they call from then on',
    body: object({ member: Member, reason: Reason }),
    reply: object({ member: Member, locked: Type.Boolean() }),
    rejects: ['VALIDATION_ERROR'],
  }),

  unlockTeamMember: team.command({
    roles: lockRoles,
    freshLogin: 'always',
    twoPeople: 'always',
    summary: 'Let a locked person or machine in again. Sessions of before stay ended',
    body: object({ member: Member, reason: Reason }),
    reply: object({ member: Member, locked: Type.Boolean() }),
  }),

  listLockedMembers: team.query({
    roles: lockRoles,
    summary: 'List who is locked',
    reply: object({ data: arrayOf(300, { member: Member }) }),
  }),
}
