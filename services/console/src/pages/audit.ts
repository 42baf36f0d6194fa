import { allOperations, operations, Rejection, type Reply, type ServiceName, serviceNames } from '@backoffice/contracts'
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
    const trail = visit.person.mayCall(listAudit) ? await trailOf(visit) : undefined
    const columns: readonly Shown<Entry>[] = [
      'at',
      'actor',
      ['operation', ({ operation, service }) => lines(id(operation), text(service))],
      ['subject', ({ subject }) => subjectOf(visit, subject)],
      ['outcome', ({ outcome, tool }) => lines(outcome === 'done' ? status(outcome) : text(outcome), text(tool))],
      ['changes', ({ changes }) => lines(...(changes ?? []).map(changeCell))],
      'reason',
      ['input', ({ input }) => ({ kind: 'folded', text: JSON.stringify(input) })],
    ]
    return visit.show('audit', {
      refused: trail === undefined ? (listAudit.roles ?? []) : undefined,
      actor: query.actor ?? '',
      subject: query.subject ?? '',
      reads: query.reads === 'yes',
      missing: trail?.missing.join(', '),
      rows: (trail?.entries ?? []).map((row) => ({ cells: factsOf(rowSchema(listAudit.reply), row, columns) })),
    })
  })
}

const changeCell = ({ field, before, after }: NonNullable<Entry['changes']>[number]): Cell =>
  text(`${field}: ${before ?? '–'} → ${after ?? '–'}`)

/** Reads of personal data are audited too. There are many more of them than of actions. */
const isRead = (service: ServiceName, operation: string): boolean =>
  allOperations.some((known) => known.service === service && known.id === operation && known.kind === 'query')

function subjectOf(visit: Visit, subject: string | null): Cell {
  if (subject === null) return text(null)
  const place = placeOf(subject)
  return place === undefined ? id(subject) : link(subject, visit.address(place))
}

interface Trail {
  readonly entries: readonly Entry[]
  /** The services that did not answer: what they keep is missing. */
  readonly missing: readonly ServiceName[]
}

/** Each service keeps its own trail, in the transaction of the action itself. */
async function trailOf({ person, query }: Visit): Promise<Trail> {
  const { actor = '', subject = '' } = query
  const filter = { ...(actor === '' ? {} : { actor }), ...(subject === '' ? {} : { subject }) }
  const silent = new Set<ServiceName>()
  const pages = serviceNames.map(async (service) => {
    try {
      const { data } = await person.call(operations[service].listAudit, { ...filter, limit: entriesMax })
      const wanted = query.reads === 'yes' ? data : data.filter((entry) => !isRead(service, entry.operation))
      return wanted.map((entry) => ({ ...entry, service }))
    } catch (error) {
      if (!(error instanceof Rejection) || error.code !== 'SERVICE_UNAVAILABLE') throw error
      silent.add(service)
      return []
    }
  })
  const entries = (await Promise.all(pages)).flat()
  // In one order, whoever fails first.
  const missing = serviceNames.filter((service) => silent.has(service))
  return { entries: entries.sort((a, b) => b.at.localeCompare(a.at)).slice(0, rowsOnPage), missing }
}
