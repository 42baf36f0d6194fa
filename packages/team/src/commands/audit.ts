import { type AuditEntry, type Input, operations, serviceNames } from '@backoffice/contracts'
import { lists } from '@backoffice/team-rows'
import type { ExportedLine } from '../audit.ts'
import { printJsonLine } from '../output.ts'
import { listed, row, type Work } from '../row.ts'
import { callPages } from '../session.ts'

const trails = serviceNames.map((service) => ({ service, listAudit: operations[service].listAudit }))
const exports = serviceNames.map((service) => ({ service, exportAudit: operations[service].exportAudit }))

export const audit = [
  listed(lists.audit, {
    description: 'Of all services, newest first',
    also: trails.map(({ listAudit }) => listAudit),
    run: listAll,
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
