import { type Input, operations, serviceNames } from '@backoffice/contracts'
import { lists, membersIn, newestEntryFirst, ownSessionsIn } from '@backoffice/team-rows'
import type { ExportedLine } from '../audit.ts'
import { exporting, printJsonLine } from '../output.ts'
import { listed, row, type Work } from '../row.ts'
import { callAll, type Session } from '../session.ts'

const trails = serviceNames.map((service) => ({ service, list: operations[service].listAudit }))
const exports = serviceNames.map((service) => ({ service, exportAudit: operations[service].exportAudit }))

export const audit = [
  listed(lists.audit, {
    description: 'Of all services, newest first',
    also: trails.map(({ list }) => list),
    run: ({ session, input }) => callAll(session, trails, input, newestEntryFirst),
    fixed: { actionsOnly: true },
    switches: [{ flags: '--reads', help: 'also who has read what', gives: { actionsOnly: false } }],
  }),
  row({
    path: 'audit export',
    description: 'Write a period of all services as JSON lines, each with what proves it',
    operation: operations.gateway.exportAudit,
    also: exports.map(({ exportAudit }) => exportAudit),
    fixed: { limit: 1_000, cursor: undefined },
    run: exportAll,
    show: ({ data: _printed, ...end }) => printJsonLine(end),
  }),
]

/**
 * Page by page, service after service, because a period may be larger than memory. Only JSON is printed at the end, because
 * it is one document.
 */
async function exportAll({ session, input, json }: Work<typeof operations.gateway.exportAudit>) {
  const data: ExportedLine[] = []
  let entries = 0
  using progress = exporting('audit export')
  const [from, to] = [input.from, input.to].map(Date.parse) as [number, number]
  for (const [index, { service, exportAudit }] of exports.entries()) {
    let page: Input<typeof exportAudit> = input
    for (;;) {
      const { data: found, nextCursor = null } = await session.call(exportAudit, page)
      const lines = found.map((entry) => ({ service, ...entry }))
      if (json) data.push(...lines)
      else for (const line of lines) printJsonLine(line)
      entries += lines.length
      if (nextCursor === null) break
      // Oldest first.
      const share = (Date.parse(found.at(-1)?.at ?? input.from) - from) / (to - from)
      progress.at(`${entries} entries, now of ${service}`, (index + share) / exports.length)
      page = { ...input, cursor: nextCursor }
    }
  }
  return { data, end: { from: input.from, to: input.to, entries } }
}

const { endSession, listLockedMembers, listSessions, lockTeamMember, unlockTeamMember } = operations.gateway

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
    run: async ({ session }) => ({
      data: ownSessionsIn(await Promise.all(ownLists.map((operation) => session.call(operation, {})))),
    }),
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

const members = async (session: Session, since: string) =>
  membersIn(await Promise.all(ofAll.map((operation) => session.call(operation, { since }))))

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
