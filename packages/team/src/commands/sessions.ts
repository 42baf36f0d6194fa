import { type OwnSession, operations, serviceNames, type TeamMember } from '@backoffice/contracts'
import { lists } from '@backoffice/team-rows'
import { listed, row, type Work } from '../row.ts'
import type { Session } from '../session.ts'

const { endSession, listLockedMembers, listOwnSessions, listSessions, lockTeamMember, unlockTeamMember } =
  operations.gateway

const ofAll = serviceNames.map((service) => operations[service].listSessions)
const ownLists = serviceNames.map((service) => operations[service].listOwnSessions)

/** A member is given by name, and looked up: locked is an account. */
const ofMember = {
  arguments: ['member'],
  wording: { member: { help: 'a name that `sessions list` shows, or an account: issuer and subject' } },
  look: ({ member }: { readonly member: string }, session: Session) => accountOf(member, session),
} as const

export const sessions = [
  row({
    path: 'sessions list',
    description: 'Who has called any of the services, and when their latest session began',
    operation: listSessions,
    also: ofAll,
    run: async ({ session, input }) => ({ data: await members(session, input.since) }),
    columns: ['name', 'kind', ['latest session', 'latestSessionAt'], ['account', 'id']],
  }),
  listed(lists.ownSessions, {
    description: 'Your own sessions that may still act, in the browser and here',
    also: ownLists,
    run: listOwn,
  }),
  row({
    path: 'sessions end',
    operation: endSession,
    either: ['session'],
    confirm: ({ session }) => (session === undefined ? 'End all of your sessions?' : `End the session ${session}?`),
  }),
  row({
    path: 'sessions lock',
    operation: lockTeamMember,
    ...ofMember,
    confirm: (_given, account) => `Lock ${account}? To unlock takes two people.`,
    run: ({ session, input, seen, operationId }) =>
      session.call(lockTeamMember, { ...input, member: seen }, operationId),
  }),
  row({
    path: 'sessions unlock',
    operation: unlockTeamMember,
    ...ofMember,
    confirm: (_given, account) => `Unlock ${account}?`,
    run: ({ session, input, seen, operationId }) =>
      session.call(unlockTeamMember, { ...input, member: seen }, operationId),
  }),
  row({ path: 'sessions locked', operation: listLockedMembers, columns: [['account', 'member']] }),
]

/** Each service knows the sessions that have called it: of all of them, everybody with their latest. */
async function members(session: Session, since: string): Promise<readonly TeamMember[]> {
  const pages = await Promise.all(ofAll.map((operation) => session.call(operation, { since })))
  const oldestFirst = pages.flatMap(({ data }) => data).sort(byLatest)
  const found = new Map(oldestFirst.map((member) => [`${member.kind} ${member.name} ${member.id}`, member]))
  return [...found.values()].sort(byLatest).reverse()
}

const byLatest = (a: TeamMember, b: TeamMember) => a.latestSessionAt.localeCompare(b.latestSessionAt)

const lookedBackMs = 90 * 86_400_000

/** @throws when nobody has this name, or several accounts have it */
async function accountOf(member: string, session: Session): Promise<string> {
  if (member.includes(' ')) return member
  const lately = await members(session, new Date(Date.now() - lookedBackMs).toISOString())
  const ids = new Set(lately.flatMap(({ name, id }) => (name === member.toLowerCase() && id !== null ? [id] : [])))
  const [id, ...others] = ids
  if (id === undefined) throw new Error(`nobody called ${member} was here lately: name the account`)
  if (others.length > 0) throw new Error(`several accounts are called ${member}: ${[...ids].join(', ')}`)
  return id
}

async function listOwn({ session }: Work<typeof listOwnSessions>) {
  const pages = await Promise.all(ownLists.map((operation) => session.call(operation, {})))
  const earliest = new Map<string, OwnSession>()
  for (const one of pages.flatMap(({ data }) => data)) {
    const known = earliest.get(one.session)
    if (known === undefined || one.firstUsedAt < known.firstUsedAt) earliest.set(one.session, one)
  }
  return { data: [...earliest.values()].sort((a, b) => b.begunAt.localeCompare(a.begunAt)) }
}
