import { defined, deliveryStates, type Input, operations, type Reply } from '@backoffice/contracts'
import type { FastifyReply } from 'fastify'
import { factsOf, folded, id, lines, link, rowsOf, status, text } from '../pieces/cells.ts'
import { withQuery } from '../pieces/filters.ts'
import { operatorName, operatorNames } from '../pieces/listed.ts'
import { afterOf, rowsOnPage, showCase, showList, type Tab } from '../pieces/queue.ts'
import { type Decision, type Pages, pageWithForms, type SentForm, type Visit } from '../pieces/visit.ts'

const { listDeliveries, showDelivery, resendDelivery, listSetAside, showSetAside, rerunSetAside } = operations.webhooks

type Story = Reply<typeof showDelivery>
type State = NonNullable<Input<typeof listDeliveries>['state']>

/** What is to be looked into first. */
const tabs = ['failed', 'withheld', 'pending', 'delivered'] as const satisfies readonly State[]

/** What was sent to the operators, and the messages of which nothing could be made. */
export const deliveryPages: Pages = (route) => {
  route.get('/deliveries', showDeliveries)
  pageWithForms(route, '/deliveries/:deliveryId', {
    find: ({ person, params }) => person.call(showDelivery, { id: params.deliveryId ?? '' }),
    pathOf,
    environmentOf: ({ environment }) => environment,
    show: showStory,
    decisionOf: (visit, story, name) => (name === 'resend' ? resendOf(visit, story) : undefined),
  })
  route.get('/set-aside', showSetAsides)
  pageWithForms(route, '/set-aside/:messageId', {
    find: ({ params }) => params.messageId ?? '',
    pathOf: (messageId) => `/set-aside/${messageId}`,
    show: showMessage,
    decisionOf: (visit, messageId, name) => (name === 'rerun' ? rerunOf(visit, messageId) : undefined),
  })
}

const pathOf = ({ id: deliveryId }: Pick<Story, 'id'>): string => `/deliveries/${deliveryId}`

const isState = (value: string | undefined): value is State => deliveryStates.some((state) => state === value)

/** The tabs above everything about deliveries. */
export function tabsOf({ address, person }: Visit, current: State | 'setAside' | 'endpoints'): readonly Tab[] {
  const states: readonly Tab[] = tabs.map((state) => ({
    label: state,
    href: address(`/deliveries?state=${state}`),
    current: state === current,
  }))
  // They are of both environments, since they could not be read.
  const setAside: Tab = { label: 'setAside', href: address('/set-aside'), current: current === 'setAside' }
  const endpoints: Tab = { label: 'endpoints', href: address('/endpoints'), current: current === 'endpoints' }
  return [...states, ...(person.mayCall(listSetAside) ? [setAside] : []), endpoints]
}

async function showDeliveries(visit: Visit): Promise<FastifyReply> {
  const { person, environment, query, address } = visit
  const state = isState(query.state) ? query.state : 'failed'
  const { operatorId } = query
  const given = { environment, state, limit: rowsOnPage, ...defined({ operatorId }), ...afterOf(query.after) }
  const { data, nextCursor } = await person.call(listDeliveries, given)
  const names = await operatorNames(visit, data)
  const inState = `/deliveries?state=${state}`
  const rows = rowsOf(
    listDeliveries.reply,
    data,
    [
      'eventCreatedAt',
      ['operator', (row) => text(names.get(row.operatorId))],
      ['event', ({ type, eventId }) => lines(text(type), id(eventId))],
      'attempts',
      // For a delivery that succeeded the same column holds the receiver's reply, not a fault.
      [
        state === 'delivered' ? 'response' : 'lastFault',
        ({ lastError, lastResponseStatus }) => lines(text(lastError), text(lastResponseStatus)),
      ],
      'nextAttemptAt',
    ],
    (row) => address(pathOf(row)),
  )
  return showList(visit, {
    title: 'deliveries',
    tabs: tabsOf(visit, state),
    rows,
    path: operatorId === undefined ? inState : withQuery(inState, new URLSearchParams({ operatorId }).toString()),
    nextCursor,
  })
}

/** What happened to one delivery: in one sentence, then attempt by attempt. */
async function showStory(visit: Visit, story: Story, sent?: SentForm): Promise<FastifyReply> {
  const { display, address } = visit
  const operator = await operatorName(visit, story.operatorId)
  const facts = factsOf(showDelivery.reply, story, [
    ['state', (row) => status(row.state)],
    'outcome',
    ['operator', ({ operatorId }) => link(operator, address(`/operators/${operatorId}`))],
    'attempts',
    'eventCreatedAt',
    'nextAttemptAt',
    'finishedAt',
    ['event', ({ eventId }) => id(eventId)],
    ['id', (row) => id(row.id)],
    ['body', ({ body }) => folded(body)],
  ])
  const attempts = rowsOf(showDelivery.reply.properties.attemptLog.items, story.attemptLog, [
    'startedAt',
    ['outcome', ({ error, responseStatus }) => lines(text(error ?? display.t('acknowledged')), text(responseStatus))],
    ['duration', ({ durationMs }) => text(`${durationMs} ms`)],
    'url',
    ['response', ({ responseHead }) => (responseHead ? folded(responseHead) : text(null))],
  ])
  return showCase(visit, {
    path: pathOf(story),
    title: story.type,
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
  label: 'operation.resendDelivery',
  operation: resendDelivery,
  fixed: { id: deliveryId, seen: { type } },
  required: ['reason'],
  ask: display.t('resendAsk', { type }),
  done: `${display.word('operation', resendDelivery.id)}: ${type}`,
  tone: 'good',
})

async function showSetAsides(visit: Visit): Promise<FastifyReply> {
  const { person, query, address } = visit
  const { data, nextCursor } = await person.call(listSetAside, { limit: rowsOnPage, ...afterOf(query.after) })
  return showList(visit, {
    title: 'deliveries',
    tabs: tabsOf(visit, 'setAside'),
    rows: rowsOf(
      listSetAside.reply,
      data,
      ['setAsideAt', 'subject', 'fault', 'operatorId', 'eventId'],
      ({ id: messageId }) => address(`/set-aside/${messageId}`),
    ),
    path: '/set-aside',
    nextCursor,
  })
}

async function showMessage(visit: Visit, messageId: string, sent?: SentForm): Promise<FastifyReply> {
  const { person, display, address } = visit
  const message = await person.call(showSetAside, { id: messageId })
  return showCase(visit, {
    path: `/set-aside/${messageId}`,
    title: message.subject,
    about: display.t('setAside'),
    list: address('/set-aside'),
    facts: factsOf(showSetAside.reply, message, [
      'fault',
      'setAsideAt',
      'operatorId',
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
  label: 'operation.rerunSetAside',
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
