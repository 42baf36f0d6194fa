import { operations, type Reply, type ServiceName, serviceNames } from '@backoffice/contracts'
import { factsOf, lines, rowSchema, type Shown, text } from './cells.ts'
import { rowsOnPage } from './queue.ts'
import type { Pages } from './route.ts'
import type { Visit } from './visit.ts'

const { listAudit } = operations.gateway

type Entry = Reply<typeof listAudit>['data'][number] & { readonly service: ServiceName }

/** What the team did: of all services, newest first. The trail belongs to no environment. */
export const auditPages: Pages = (route) => {
  route.get('/audit', async (visit) => {
    const { query } = visit
    const entries = visit.person.mayCall(listAudit) ? await entriesOf(visit) : undefined
    const columns: readonly Shown<Entry>[] = [
      'at',
      'actor',
      ['operation', ({ operation, service }) => lines(text(operation), text(service))],
      ['subject', ({ subject }) => (subject === null ? text(null) : { kind: 'id', text: subject })],
      'reason',
      ['input', ({ input }) => ({ kind: 'code', text: JSON.stringify(input) })],
    ]
    return visit.show('audit', {
      refused: entries === undefined ? (listAudit.roles ?? []) : undefined,
      actor: query.actor ?? '',
      subject: query.subject ?? '',
      rows: (entries ?? []).map((row) => ({ cells: factsOf(rowSchema(listAudit.reply), row, columns) })),
    })
  })
}

/** Each service keeps its own trail, in the transaction of the action itself. */
async function entriesOf({ person, query }: Visit): Promise<readonly Entry[]> {
  const { actor = '', subject = '' } = query
  const filter = { ...(actor === '' ? {} : { actor }), ...(subject === '' ? {} : { subject }) }
  const pages = serviceNames.map(async (service) => {
    const { data } = await person.call(operations[service].listAudit, { ...filter, limit: rowsOnPage })
    return data.map((entry) => ({ ...entry, service }))
  })
  const entries = (await Promise.all(pages)).flat()
  return entries.sort((a, b) => b.at.localeCompare(a.at)).slice(0, rowsOnPage)
}
