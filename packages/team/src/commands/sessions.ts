import { operations, serviceNames, type TeamMember } from '@backoffice/contracts'
import { row, type Work } from '../row.ts'

const lists = serviceNames.map((service) => operations[service].listSessions)

export const sessions = [
  row({
    path: 'sessions list',
    description: 'Who has called any of the services, and when their latest session began',
    operation: operations.gateway.listSessions,
    also: lists,
    run: listAll,
    columns: ['name', 'kind', ['latest session', 'latestSessionAt']],
  }),
]

/** Each service knows the sessions that have called it. */
async function listAll({ session, input }: Work<typeof operations.gateway.listSessions>) {
  const pages = await Promise.all(lists.map((operation) => session.call(operation, input)))
  const oldestFirst = pages.flatMap(({ data }) => data).sort(byLatest)
  const members = new Map(oldestFirst.map((member) => [`${member.kind} ${member.name}`, member]))
  return { data: [...members.values()].sort(byLatest).reverse() }
}

const byLatest = (a: TeamMember, b: TeamMember) => a.latestSessionAt.localeCompare(b.latestSessionAt)
