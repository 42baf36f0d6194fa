import { deliveriesCountedMax, type Input, operations, type Reply, resentMax } from '@backoffice/contracts'
import { lists, nameOf } from '@backoffice/team-rows'
import type { FastifyReply } from 'fastify'
import { notKnown } from '../identity/person.ts'
import { factsOf, folded, id, lines, link, nothing, rowsOf, status, text, time } from '../pieces/cells.ts'
import { type Filter, filterOf, withQuery } from '../pieces/filters.ts'
import { filterGiven, listRows, readList, showListed } from '../pieces/list-page.ts'
import { operatorName, operatorNames } from '../pieces/listed.ts'
import { showCase, showList, type Tab } from '../pieces/queue.ts'
import { type Decision, type Pages, pageWithForms, type SentForm, type Visit } from '../pieces/visit.ts'

const { listDeliveries, countDeliveries, showDelivery, resendDelivery, resendDeliveries } = operations.webhooks
const { showWebhook, listSetAside, showSetAside, rerunSetAside } = operations.webhooks

type Story = Reply<typeof showDelivery>
type Endpoint = Reply<typeof showWebhook>
type State = NonNullable<Input<typeof listDeliveries>['state']>

/** What is asked about first. */
const tabs = ['undelivered', 'failed', 'pending', 'withheld', 'delivered'] as const satisfies readonly State[]

/** What was sent to the operators, and the messages of which nothing could be made. */
export const deliveryPages: Pages = (route) => {
  pageWithForms(route, '/deliveries', {
    find: findList,
    pathOf: ({ shownFilter: { path, query } }) => withQuery(path, query),
    show: showDeliveries,
    // What stands in an option was signed as its page showed it. There may be none of them left by now.
    decisionOf: (visit, found, name) =>
      name === 'resend' && found.endpoint ? resendSeveralOf(visit, found, found.endpoint, ['all']) : undefined,
  })
  pageWithForms(route, '/deliveries/:deliveryId', {
    find: ({ person, params }) => person.call(showDelivery, { id: params.deliveryId ?? '' }),
    pathOf,
    environmentOf: ({ environment }) => environment,
    show: showStory,
    decisionOf: (visit, story, name) => (name === 'resend' ? resendOf(visit, story) : undefined),
  })
  route.get('/set-aside', (visit) =>
    showListed(visit, {
      list: lists.setAside,
      title: 'deliveries',
      path: '/set-aside',
      cells: async () => {
        const ownerOf = await operatorNames(visit)
        return { operator: ({ operatorId }) => text(operatorId && ownerOf(operatorId)) }
      },
      frame: () => ({ tabs: tabsOf(visit, 'setAside'), empty: 'empty.setAside' }),
    }),
  )
  pageWithForms(route, '/set-aside/:messageId', {
    find: ({ params }) => params.messageId ?? '',
    pathOf: (messageId) => `/set-aside/${messageId}`,
    show: showMessage,
    decisionOf: (visit, messageId, name) => (name === 'rerun' ? rerunOf(visit, messageId) : undefined),
  })
}

const pathOf = ({ id: deliveryId }: Pick<Story, 'id'>): string => `/deliveries/${deliveryId}`

/** The tabs above everything about deliveries, with how many of a filter each has. */
export function tabsOf(
  { address, person }: Visit,
  current: State | 'setAside' | 'endpoints',
  { counts, filter = '' }: { readonly counts?: Counts | undefined; readonly filter?: string } = {},
): readonly Tab[] {
  const states: readonly Tab[] = tabs.map((state) => ({
    label: state,
    href: address(withQuery(`/deliveries?state=${state}`, filter)),
    current: state === current,
    counted: counts && countOf(counts, state),
  }))
  // They are of both environments, since they could not be read.
  const setAside: Tab = { label: 'setAside', href: address('/set-aside'), current: current === 'setAside' }
  const endpoints: Tab = { label: 'endpoints', href: address('/endpoints'), current: current === 'endpoints' }
  return [...states, ...(person.mayCall(listSetAside) ? [setAside] : []), endpoints]
}

interface FoundList {
  readonly state: State
  /** Undefined where the operator that was asked for is not known: nothing can be listed then. */
  readonly filter: Input<typeof countDeliveries> | undefined
  readonly shownFilter: Filter
  /** Of the operator whose deliveries they are, where this person may send them again. */
  readonly endpoint: (Endpoint & { readonly name: string }) | undefined
}

async function findList(visit: Visit): Promise<FoundList> {
  const { person, environment, query } = visit
  const { fields, asked, operator } = await filterGiven(visit, lists.deliveries)
  const state = tabs.find((known) => known === query.state) ?? 'undelivered'
  const where = operator && { operatorId: operator.id, environment }
  const endpoint =
    where && person.mayCall(resendDeliveries, where) ? await person.call(showWebhook, where).catch(notKnown) : undefined
  return {
    state,
    filter: asked,
    shownFilter: filterOf(visit, { list: 'deliveries', path: `/deliveries?state=${state}`, fields }),
    endpoint: endpoint && { ...endpoint, name: operator?.name ?? endpoint.operatorId },
  }
}

async function showDeliveries(visit: Visit, found: FoundList, sent?: SentForm): Promise<FastifyReply> {
  const { person, query, display } = visit
  const { state, filter, shownFilter, endpoint } = found
  const [{ data, nextCursor }, counts] = await Promise.all([
    readList(visit, lists.deliveries, filter && { ...filter, state }, { cursor: query.after, limit: display.rowsEach }),
    filter && person.call(countDeliveries, filter),
  ])
  const ownerOf = await operatorNames(visit)
  const list = {
    ...lists.deliveries,
    columns: lists.deliveries.columns
      // All have the one that the tab names.
      .filter((column) => column !== 'state' || state === 'undelivered')
      // Of a delivery that succeeded it is the receiver's reply, no fault.
      .map((column) => (nameOf(column) === 'lastFault' && state === 'delivered' ? answered : column)),
  }
  const rows = listRows(visit, list, data, {
    event: ({ type, eventId }) => lines(text(display.word('value', type)), text(type), id(eventId)),
    operator: (row) => text(ownerOf(row.operatorId)),
    lastFault: ({ lastError, lastResponseStatus }) =>
      lines(text(lastError && display.sentence(lastError)), text(lastResponseStatus)),
    nextAttemptAt: (row) => nextAttempt(visit, row),
  })
  const maySend = endpoint !== undefined && data.length > 0
  return showList(visit, {
    title: 'deliveries',
    tabs: tabsOf(visit, state, { counts, filter: shownFilter.query }),
    filter: shownFilter,
    decisions: maySend ? [resendSeveralOf(visit, found, endpoint, await idsOfAll(visit, found))] : [],
    sent,
    remark: person.mayCall(resendDeliveries) && filter?.operatorId === undefined ? display.t('resendWhere') : undefined,
    rows: maySend ? rows.map((row, index) => ({ ...row, choice: data[index]?.id })) : rows,
    path: shownFilter.path,
    nextCursor,
  })
}

const answered = ['response', 'lastResponseStatus'] as const

/** Once its time has come, an attempt waits for the endpoint, or for its turn. */
function nextAttempt(
  { display, now }: Visit,
  { heldUntil, nextAttemptAt }: Pick<Story, 'heldUntil' | 'nextAttemptAt'>,
) {
  if (heldUntil !== null) return text(display.t('heldUntil', { time: display.time(heldUntil) }))
  if (nextAttemptAt === null) return nothing
  return Date.parse(nextAttemptAt) <= now.getTime() ? text(display.t('dueNow')) : time(nextAttemptAt)
}

const allOf = (state: State) => (state === 'withheld' ? 'withheld' : 'failed')

/** What of the filter is not tried any more, the newest first. */
async function idsOfAll({ person }: Visit, { filter = {}, state }: FoundList): Promise<readonly string[]> {
  if (state === 'pending' || state === 'delivered') return []
  const { data } = await person.call(listDeliveries, { ...filter, state: allOf(state), limit: resentMax })
  return data.map(({ id: deliveryId }) => deliveryId)
}

function resendSeveralOf(
  { display }: Visit,
  { state }: Pick<FoundList, 'state'>,
  { operatorId, environment, url, enabled, name }: NonNullable<FoundList['endpoint']>,
  all: readonly string[],
): Decision {
  const states = state === 'undelivered' ? (['pending', 'failed'] as const) : [state]
  const word = all.length < resentMax ? 'resendAll' : 'resendNewest'
  const label = display.t(word, { count: all.length, state: display.word('value', allOf(state)) })
  return {
    name: 'resend',
    operation: resendDeliveries,
    fixed: { operatorId, environment, states, seen: { url } },
    required: ['reason'],
    options: {
      ids: [
        { name: 'given', label: display.t('resendChosen') },
        ...(all.length === 0 ? [] : [{ name: 'all', label, value: all, button: label }]),
      ],
    },
    ask: display.t('resendSeveralAsk', { operator: name, url: url ?? display.none('url') }),
    done: (reply) => {
      const { scheduled, left } = reply as Reply<typeof resendDeliveries>
      return display.t('resendSeveralDone', { scheduled, left })
    },
    key: 's',
    unless: url === null || !enabled ? display.word('error', 'WEBHOOK_NOT_CONFIGURED') : undefined,
    tone: 'good',
  }
}

type Counts = Reply<typeof countDeliveries>

/** Delivered are nearly all. */
function countOf({ pending, failed, withheld }: Counts, state: State): string | undefined {
  if (state === 'delivered') return undefined
  const count = { undelivered: pending + failed, pending, failed, withheld }[state]
  return count < deliveriesCountedMax ? String(count) : `${deliveriesCountedMax}+`
}

/** What happened to one delivery: in one sentence, then attempt by attempt. */
async function showStory(visit: Visit, story: Story, sent?: SentForm): Promise<FastifyReply> {
  const { display, address } = visit
  const operator = await operatorName(visit, story.operatorId)
  const facts = factsOf(showDelivery.reply, story, [
    ['state', (row) => status(row.state)],
    ['outcome', ({ outcome }) => text(display.sentence(outcome))],
    ['operator', ({ operatorId }) => link(operator, address(`/operators/${operatorId}`))],
    'attempts',
    'eventCreatedAt',
    ['nextAttemptAt', (row) => nextAttempt(visit, row)],
    'finishedAt',
    ['event', ({ type, eventId }) => lines(text(type), id(eventId))],
    ['id', (row) => id(row.id)],
    ['body', ({ body }) => folded(body)],
  ])
  const attempts = rowsOf(showDelivery.reply.properties.attemptLog.items, story.attemptLog, [
    'startedAt',
    [
      'outcome',
      ({ error, responseStatus }) =>
        lines(text(error === null ? display.t('acknowledged') : display.sentence(error)), text(responseStatus)),
    ],
    ['duration', ({ durationMs }) => text(`${durationMs} ms`)],
    'url',
    ['response', ({ responseHead }) => (responseHead ? folded(responseHead) : text(null))],
  ])
  return showCase(visit, {
    path: pathOf(story),
    title: display.word('value', story.type),
    about: display.t('deliveries'),
    list: address(`/deliveries?state=${story.state}`),
    facts,
    decisions: [resendOf(visit, story)],
    decisionsTitle: 'actions',
    sent,
    sections: [{ title: 'attempts', rows: attempts }],
  })
}

const resendOf = ({ display }: Visit, { id: deliveryId, type }: Pick<Story, 'id' | 'type'>): Decision => ({
  name: 'resend',
  operation: resendDelivery,
  fixed: { id: deliveryId, seen: { type } },
  required: ['reason'],
  ask: display.t('resendAsk', { type }),
  done: `${display.word('operation', resendDelivery.id)}: ${type}`,
  tone: 'good',
})

async function showMessage(visit: Visit, messageId: string, sent?: SentForm): Promise<FastifyReply> {
  const { person, display, address } = visit
  const message = await person.call(showSetAside, { id: messageId })
  const owner = message.operatorId && (await operatorName(visit, message.operatorId))
  return showCase(visit, {
    path: `/set-aside/${messageId}`,
    title: message.subject,
    about: display.t('setAside'),
    list: address('/set-aside'),
    facts: factsOf(showSetAside.reply, message, [
      'fault',
      'setAsideAt',
      ['operator', ({ operatorId }) => (owner === null ? nothing : link(owner, address(`/operators/${operatorId}`)))],
      'eventId',
      'id',
      ['payload', ({ payload }) => ({ kind: 'code', text: payload })],
    ]),
    decisions: [rerunOf(visit, messageId)],
    decisionsTitle: 'actions',
    sent,
  })
}

const rerunOf = ({ display }: Visit, messageId: string): Decision => ({
  name: 'rerun',
  operation: rerunSetAside,
  fixed: { id: messageId },
  ask: display.t('rerunAsk'),
  // One that cannot be read stays where it is.
  done: (reply) => {
    const { handled, left } = reply as Reply<typeof rerunSetAside>
    return display.t('rerunDone', { handled, left })
  },
  // A message that was handled has no page any more.
  leadsTo: () => '/set-aside',
  tone: 'good',
})
