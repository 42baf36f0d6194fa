import { type AuditEntry, type Input, operations, serviceNames, type TeamMember } from '@backoffice/contracts'
import type { ExportedLine } from '../audit.ts'
import { printJsonLine } from '../output.ts'
import { row, type Work } from '../row.ts'
import { callPages } from '../session.ts'

const trails = serviceNames.map((service) => ({ service, listAudit: operations[service].listAudit }))
const exports = serviceNames.map((service) => ({ service, exportAudit: operations[service].exportAudit }))

export const audit = [
  row({
    path: 'audit list',
    description: 'Of all services, newest first',
    operation: operations.gateway.listAudit,
    also: trails.map(({ listAudit }) => listAudit),
    run: listAll,
    columns: [
      'at',
      ['who', 'actor'],
      'service',
      'operation',
      'outcome',
      'subject',
      ['why', 'reason'],
      ['operation id', 'operationId'],
    ],
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

/** Each service keeps its own trail, in the transaction of the action itself. */
async function listAll({ session, input }: Work<typeof operations.gateway.listAudit>) {
  const pages = trails.map(async ({ service, listAudit }) => {
    const { data } = await callPages(session, listAudit, input)
    return data.map((entry) => ({ service, ...entry }))
  })
  const entries = (await Promise.all(pages)).flat()
  return { data: entries.sort(newestFirst).slice(0, input.limit) }
}

/** As the trails are ordered, so that the last entry shown is where the next page begins. */
const newestFirst = (a: AuditEntry, b: AuditEntry) => b.at.localeCompare(a.at) || (a.id < b.id ? 1 : -1)

/**
 * Page by page, service after service, because a period may be larger than memory. Only JSON is printed at the end, because
 * it is one document.
 */
async function exportAll({ session, input, json }: Work<typeof operations.gateway.exportAudit>) {
  const data: ExportedLine[] = []
  let entries = 0
  for (const { service, exportAudit } of exports) {
    let page: Input<typeof exportAudit> = input
    for (;;) {
      const { data: found, nextCursor = null } = await session.call(exportAudit, page)
      const lines = found.map((entry) => ({ service, ...entry }))
      if (json) data.push(...lines)
      else for (const line of lines) printJsonLine(line)
      entries += lines.length
      if (nextCursor === null) break
      page = { ...input, cursor: nextCursor }
    }
  }
  return { data, end: { from: input.from, to: input.to, entries } }
}

const lists = serviceNames.map((service) => operations[service].listSessions)

export const sessions = [
  row({
    path: 'sessions list',
    description: 'Who has called any of the services, and when their latest session began',
    operation: operations.gateway.listSessions,
    also: lists,
    run: listSessions,
    columns: ['name', 'kind', ['latest session', 'latestSessionAt']],
  }),
]

/** Each service knows the sessions that have called it. */
async function listSessions({ session, input }: Work<typeof operations.gateway.listSessions>) {
  const pages = await Promise.all(lists.map((operation) => session.call(operation, input)))
  const oldestFirst = pages.flatMap(({ data }) => data).sort(byLatest)
  const members = new Map(oldestFirst.map((member) => [`${member.kind} ${member.name}`, member]))
  return { data: [...members.values()].sort(byLatest).reverse() }
}

const byLatest = (a: TeamMember, b: TeamMember) => a.latestSessionAt.localeCompare(b.latestSessionAt)
