import { operations, serviceNames } from '@backoffice/contracts'
import { callPages } from '../pages.ts'
import { row, type Work } from '../row.ts'

const trails = serviceNames.map((service) => ({ service, listAudit: operations[service].listAudit }))

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
      ['outcome', ({ outcome }) => outcome ?? 'done'],
      'subject',
      ['why', 'reason'],
      ['operation id', 'operationId'],
    ],
  }),
]

/** Each service keeps its own trail, in the transaction of the action itself. */
async function listAll({ session, input }: Work<typeof operations.gateway.listAudit>) {
  const pages = trails.map(async ({ service, listAudit }) => {
    const { data } = await callPages(session, listAudit, input)
    return data.map((entry) => ({ service, ...entry }))
  })
  const entries = (await Promise.all(pages)).flat()
  return { data: entries.sort((a, b) => b.at.localeCompare(a.at)).slice(0, input.limit) }
}
