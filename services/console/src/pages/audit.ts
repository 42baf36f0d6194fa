import {
  allOperations,
  defined,
  operations,
  Rejection,
  type Reply,
  type ServiceName,
  serviceNames,
} from '@backoffice/contracts'
import { askEach } from '../pieces/away.ts'
import { type Cell, folded, id, lines, link, rowsOf, status, text } from '../pieces/cells.ts'
import { type FilterField, filterOf, periodFields, periodOf, textField, valuesOf } from '../pieces/filters.ts'
import { csvRows, sendCsv } from '../pieces/listed.ts'
import { cutOff, merged } from '../pieces/open-proposals.ts'
import { beforeOf, rowsOnPage, showList, showNotYours } from '../pieces/queue.ts'
import type { Pages, Visit } from '../pieces/visit.ts'
import { placeOf } from './search.ts'

const { listAudit } = operations.gateway

/** How much of each service's trail is read at once. */
const entriesMax = 200
const readsMax = 5

type Entry = Reply<typeof listAudit>['data'][number] & { readonly service: ServiceName }

const fields: readonly FilterField[] = [
  textField('actor'),
  textField('subject', 'wdr_…, ply_…'),
  ...periodFields,
  { name: 'reads', kind: 'yes' },
]

/** What the team did: of all services, newest first. The trail belongs to no environment. */
export const auditPages: Pages = (route) => {
  route.get('/audit', async (visit) => {
    const { display } = visit
    const list = { title: 'audit', path: '/audit' } as const
    if (!visit.person.mayCall(listAudit)) return showNotYours(visit, list, listAudit)
    const { entries, missing, nextCursor } = await readShown(visit)
    const rows = rowsOf(listAudit.reply, entries, [
      'at',
      'actor',
      [
        'operation',
        ({ operation, service }) => lines(text(display.word('operation', operation)), text(`${service}.${operation}`)),
      ],
      ['subject', ({ subject }) => subjectOf(visit, subject)],
      [
        'outcome',
        ({ outcome, tool }) =>
          lines(
            outcome == null || outcome === 'done' ? status('done') : text(display.word('value', outcome)),
            text(tool),
          ),
      ],
      ['changes', (entry) => lines(...(entry.changes ?? []).map(changeCell), ...whyCells(visit, entry))],
      ['input', ({ input }) => folded(JSON.stringify(input))],
    ])
    return showList(visit, {
      ...list,
      remark: display.t('auditNotice'),
      filter: filterOf(visit, { list: 'audit', path: list.path, fields }),
      csv: '/audit.csv',
      missing,
      rows,
      nextCursor,
    })
  })
  route.get('/audit.csv', (visit) =>
    sendCsv(
      visit,
      'audit',
      csvRows(csvColumns, (cursor) => readWhole(visit, cursor)),
    ),
  )
}

const csvColumns = [
  ...(['at', 'service', 'actor', 'tool', 'operation', 'operationId', 'outcome', 'subject', 'reason'] as const),
  ...(['proposalId', 'proposedBy', 'proposalReason'] as const),
  ...(['changes', 'input', 'session'] as const),
]

const changeCell = ({ field, before, after }: NonNullable<Entry['changes']>[number]): Cell =>
  text(`${field}: ${before ?? '–'} → ${after ?? '–'}`)

/** Why it was done. Where two people did it: why it was asked for, by whom, and why the second one agreed. */
function whyCells({ display, address }: Visit, entry: Entry): readonly Cell[] {
  const { reason, proposalId, proposedBy, proposalReason } = entry
  if (proposalId === null || proposedBy === null) return [text(reason)]
  const asked = display.t('askedFor', { name: proposedBy, why: proposalReason ?? '–' })
  return [link(asked, address(`/proposals/${proposalId}`)), text(reason)]
}

/** Reads of personal data are audited too. There are many more of them than of actions. */
const isRead = ({ service, operation }: Entry): boolean =>
  allOperations.some((known) => known.service === service && known.id === operation && known.kind === 'query')

function subjectOf(visit: Visit, subject: string | null): Cell {
  if (subject === null) return text(null)
  const place = placeOf(subject)
  return place === undefined ? id(subject) : link(subject, visit.address(place))
}

/** Each service keeps its own trail, in the transaction of the action itself. What keeps silent is missing. */
async function readTrail(visit: Visit, cursor: string | undefined, rowsMax = rowsOnPage) {
  const { person, query } = visit
  const { from, to } = periodOf(visit)
  const asked = {
    ...valuesOf(visit, ['actor', 'subject']),
    ...defined({ since: from }),
    // A place in the order of the trail, which is that of all services: before every entry of that moment.
    ...beforeOf(cursor ?? (to === undefined ? undefined : `${to}/0`)),
    limit: entriesMax,
  }
  const { replies, missing } = await askEach(serviceNames, async (service) => {
    const { data, ...page } = await person.call(operations[service].listAudit, asked)
    return { ...page, data: data.map((entry) => ({ ...entry, service })) }
  })
  const { rows, end } = merged<Entry>(replies, newestFirst)
  const wanted = query.reads === 'yes' ? rows : rows.filter((entry) => !isRead(entry))
  const { shown: entries, last } = cutOff(wanted, rowsMax, end)
  return { entries, missing, nextCursor: last === undefined ? null : `${last.at}/${last.id}` }
}

/** A page full of reads that are not asked for has nothing to show, so it goes on for a while. */
async function readShown(visit: Visit) {
  let trail = await readTrail(visit, visit.query.after)
  for (let reads = 1; reads < readsMax && trail.entries.length === 0 && trail.nextCursor !== null; reads += 1)
    trail = await readTrail(visit, trail.nextCursor)
  return trail
}

/** For a file, which does not show what is missing in it. */
async function readWhole(visit: Visit, cursor: string | undefined) {
  const { entries, nextCursor, missing } = await readTrail(visit, cursor, Number.POSITIVE_INFINITY)
  if (missing.length > 0) throw new Rejection('SERVICE_UNAVAILABLE')
  return { data: entries, nextCursor }
}

const newestFirst = (a: Entry, b: Entry): number => b.at.localeCompare(a.at) || (a.id < b.id ? 1 : -1)
