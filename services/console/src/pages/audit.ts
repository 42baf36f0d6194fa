import {
  allOperations,
  defined,
  operations,
  Rejection,
  type Reply,
  type ServiceName,
  serviceNames,
} from '@backoffice/contracts'
import { decisionIn, lists, newestEntryFirst, type Subject } from '@backoffice/team-rows'
import { askEach } from '../identity/person.ts'
import { type Cell, folded, lines, link, status, text } from '../pieces/cells.ts'
import { choice, type FilterField, filterOf, periodFields, periodOf, textField, valuesOf } from '../pieces/filters.ts'
import { listRows } from '../pieces/list-page.ts'
import { csvRows, sendCsv } from '../pieces/listed.ts'
import { cutOff, merged, subjectCell, subjectsOf } from '../pieces/open-proposals.ts'
import { beforeOf, showList, showNotYours } from '../pieces/queue.ts'
import { inParts } from '../pieces/rest.ts'
import { shownValue } from '../pieces/timeline.ts'
import type { Pages, Visit } from '../pieces/visit.ts'
import { placeOf } from './search.ts'

const { listAudit } = operations.gateway

/** How much of each service's trail is read at once. */
const entriesMax = 200

type Entry = Reply<typeof listAudit>['data'][number] & { readonly service: ServiceName }

/** What changes something, or discloses it: everything but reads, which are another field. */
const actions = [
  ...new Set(allOperations.filter(({ audience, kind }) => audience === 'team' && kind !== 'query').map(({ id }) => id)),
].sort()

/** Who has acted on this page is proposed. */
const fieldsFor = (entries: readonly Entry[]): readonly FilterField[] => [
  { ...textField('actor'), choices: [...new Set(entries.map(({ actor }) => actor))].sort() },
  textField('subject', 'wdr_…, ply_…'),
  choice('operation', actions),
  ...periodFields,
  { name: 'reads', kind: 'yes' },
]

/** What the team did: of all services, newest first. The trail belongs to no environment. */
export const auditPages: Pages = (route) => {
  route.get('/audit', async (visit) => {
    const { display } = visit
    const list = { title: 'audit', path: '/audit' } as const
    if (!visit.person.mayCall(listAudit)) return showNotYours(visit, list, listAudit)
    const parts = inParts(visit)
    const { entries, missing, nextCursor } = await readTrail(parts, visit.query.after)
    const subjects = await subjectsOf(parts, entries)
    const rows = listRows(visit, lists.audit, entries, {
      operation: ({ operation, input }) => text(actionOf(visit, operation, input)),
      subject: (entry) => subjectCell(visit, entry, subjects.of(entry), placeOf),
      outcome: ({ outcome, tool }) =>
        lines(
          outcome == null || /^(done|AWAITS_APPROVAL)$/.test(outcome)
            ? status(outcome ?? 'done')
            : text(display.word('value', outcome)),
          text(tool && display.word('value', tool)),
        ),
      changes: (entry) =>
        lines(
          ...(entry.changes ?? []).map((change) => changeCell(visit, change, subjects.of(entry))),
          ...whyCells(visit, entry),
        ),
      input: ({ operation, service, input }) => folded(`${service}.${operation} ${JSON.stringify(input)}`),
    })
    return showList(visit, {
      ...list,
      remark: display.t('auditNotice'),
      filter: filterOf(visit, { list: 'audit', path: list.path, fields: fieldsFor(entries) }),
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

type Change = NonNullable<Entry['changes']>[number]

/** With the names of whom it mentions, and amounts in the currency of whom it is about. */
function changeCell({ display }: Visit, { field, before, after }: Change, { nameOf, currency }: Subject): Cell {
  const shown = (value: string | null) =>
    (value === null ? undefined : nameOf?.(value)) ?? shownValue(display, field, value, currency)
  return text(`${display.word('field', field)}: ${shown(before)} → ${shown(after)}`)
}

function actionOf({ display }: Visit, operation: string, input: unknown): string {
  return display.first([`operation.${operation}.${decisionIn(input)}`, `operation.${operation}`]) || operation
}

/** Why it was done. Where two people did it: why it was asked for, by whom, and why the second one agreed. */
function whyCells({ display, address }: Visit, entry: Entry): readonly Cell[] {
  const { reason, proposalId, proposedBy, proposalReason, input } = entry
  const { restsOn } = (input ?? {}) as { readonly restsOn?: string }
  if (restsOn !== undefined) return [text(reason), text(`${display.word('field', 'restsOn')}: ${restsOn}`)]
  if (proposalId === null || proposedBy === null) return [text(reason)]
  const asked = display.t('askedFor', { name: proposedBy, why: proposalReason ?? display.none('reason') })
  return [link(asked, address(`/proposals/${proposalId}`)), text(reason)]
}

/** Each service keeps its own trail, in the transaction of the action itself. What keeps silent is missing. */
async function readTrail(visit: Visit, cursor: string | undefined, rowsMax = visit.display.rowsEach) {
  const { person, query } = visit
  const { from, to } = periodOf(visit)
  const asked = {
    ...valuesOf(visit, ['actor', 'subject', 'operation']),
    actionsOnly: query.reads !== 'yes',
    ...defined({ since: from }),
    // A place in the order of the trail, which is that of all services: before every entry of that moment.
    ...beforeOf(cursor ?? (to === undefined ? undefined : `${to}/0`)),
    limit: entriesMax,
  }
  const { replies, missing } = await askEach(serviceNames, async (service) => {
    const { data, ...page } = await person.call(operations[service].listAudit, asked)
    return { ...page, data: data.map((entry) => ({ ...entry, service })) }
  })
  const { rows, end } = merged<Entry>(replies, newestEntryFirst)
  const { shown: entries, last } = cutOff(rows, rowsMax, end)
  return { entries, missing, nextCursor: last === undefined ? null : `${last.at}/${last.id}` }
}

/** For a file, which does not show what is missing in it. */
async function readWhole(visit: Visit, cursor: string | undefined) {
  const { entries, nextCursor, missing } = await readTrail(visit, cursor, Number.POSITIVE_INFINITY)
  if (missing.length > 0) throw new Rejection('SERVICE_UNAVAILABLE')
  return { data: entries, nextCursor }
}
