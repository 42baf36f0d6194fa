import { allOperations, operations, type Reply, type ServiceName, serviceNames } from '@backoffice/contracts'
import { type Cell, factsOf, id, lines, link, rowSchema, type Shown, status, text } from './cells.ts'
import { rowsOnPage } from './queue.ts'
import type { Pages } from './route.ts'
import { placeOf } from './search.ts'
import type { Visit } from './visit.ts'

const { listAudit } = operations.gateway

/** Of each service's trail, from which what is shown is chosen. */
const entriesMax = 200

type Entry = Reply<typeof listAudit>['data'][number] & { readonly service: ServiceName }

/** What the team did: of all services, newest first. The trail belongs to no environment. */
export const auditPages: Pages = (route) => {
  route.get('/audit', async (visit) => {
    const { query } = visit
    const entries = visit.person.mayCall(listAudit) ? await entriesOf(visit) : undefined
    const columns: readonly Shown<Entry>[] = [
      'at',
      'actor',
      ['operation', ({ operation, service }) => lines(id(operation), text(service))],
      ['subject', ({ subject }) => subjectOf(visit, subject)],
      ['outcome', ({ outcome }) => (outcome === 'done' ? status(outcome) : text(outcome))],
      'reason',
      'tool',
      ['input', ({ input }) => ({ kind: 'code', text: JSON.stringify(input) })],
    ]
    return visit.show('audit', {
      refused: entries === undefined ? (listAudit.roles ?? []) : undefined,
      actor: query.actor ?? '',
      subject: query.subject ?? '',
      reads: query.reads === 'yes',
      rows: (entries ?? []).map((row) => ({ cells: factsOf(rowSchema(listAudit.reply), row, columns) })),
    })
  })
}

/** Reads of personal data are audited too. There are many more of them than of actions. */
const isRead = (service: ServiceName, operation: string): boolean =>
  allOperations.some((known) => known.service === service && known.id === operation && known.kind === 'query')

function subjectOf(visit: Visit, subject: string | null): Cell {
  if (subject === null) return text(null)
  const place = placeOf(subject)
  return place === undefined ? id(subject) : link(subject, visit.address(place))
}

/** Each service keeps its own trail, in the transaction of the action itself. */
async function entriesOf({ person, query }: Visit): Promise<readonly Entry[]> {
  const { actor = '', subject = '' } = query
  const filter = { ...(actor === '' ? {} : { actor }), ...(subject === '' ? {} : { subject }) }
  const pages = serviceNames.map(async (service) => {
    const { data } = await person.call(operations[service].listAudit, { ...filter, limit: entriesMax })
    const wanted = query.reads === 'yes' ? data : data.filter((entry) => !isRead(service, entry.operation))
    return wanted.map((entry) => ({ ...entry, service }))
  })
  const entries = (await Promise.all(pages)).flat()
  return entries.sort((a, b) => b.at.localeCompare(a.at)).slice(0, rowsOnPage)
}
