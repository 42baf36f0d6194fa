import { deliveryStates, type Input, operations, type Reply } from '@backoffice/contracts'
import type { FastifyReply } from 'fastify'
import { factsOf, id, lines, link, rowSchema, type ShownColumn, status, text } from '../pieces/cells.ts'
import { withQuery } from '../pieces/filters.ts'
import { operatorName, operatorNames } from '../pieces/listed.ts'
import { afterOf, rowsOnPage, showCase, showList, type Tab } from '../pieces/queue.ts'
import { type Decision, decide, type Pages, type SentForm, shownDecision, type Visit } from '../pieces/visit.ts'

const { listDeliveries, showDelivery, resendDelivery, listSetAside, showSetAside, rerunSetAside } = operations.webhooks

type Delivery = Reply<typeof listDeliveries>['data'][number]
type Story = Reply<typeof showDelivery>
type Attempt = Story['attemptLog'][number]
type SetAside = Reply<typeof listSetAside>['data'][number]
type State = NonNullable<Input<typeof listDeliveries>['state']>

/** What is to be looked into first. */
const tabs = ['failed', 'withheld', 'pending', 'delivered'] as const satisfies readonly State[]

/** What was sent to the operators, and the messages of which nothing could be made. */
export const deliveryPages: Pages = (route) => {
  route.get('/deliveries', showDeliveries)
  route.get('/deliveries/:deliveryId', (visit) => showStory(visit))
  route.post('/deliveries/:deliveryId/resend', async (visit) => {
    const delivery = await findDelivery(visit)
    return decide(visit, resendOf(visit, delivery), pathOf(delivery), (sent) => showStory(visit, sent))
  })
  route.get('/set-aside', showSetAsides)
  route.get('/set-aside/:messageId', (visit) => showMessage(visit))
  // A message that was handled has no page any more.
  route.post('/set-aside/:messageId/rerun', (visit) =>
    decide(visit, rerunOf(visit), '/set-aside', (sent) => showMessage(visit, sent)),
  )
}

const pathOf = ({ id: deliveryId }: Pick<Delivery, 'id'>): string => `/deliveries/${deliveryId}`

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
  const of = operatorId === undefined ? {} : { operatorId }
  const given = { environment, state, limit: rowsOnPage, ...of, ...afterOf(query.after) }
  const { data, nextCursor } = await person.call(listDeliveries, given)
  const names = await operatorNames(visit, data)
  const inState = `/deliveries?state=${state}`
  const columns: readonly ShownColumn<Delivery>[] = [
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
  ]
  return showList(visit, {
    title: 'deliveries',
    tabs: tabsOf(visit, state),
    rows: data.map((row) => ({
      href: address(pathOf(row)),
      cells: factsOf(rowSchema(listDeliveries.reply), row, columns),
    })),
    path: operatorId === undefined ? inState : withQuery(inState, new URLSearchParams({ operatorId }).toString()),
    nextCursor,
  })
}

const findDelivery = ({ person, params }: Visit): Promise<Story> =>
  person.call(showDelivery, { id: params.deliveryId ?? '' })

/** What happened to one delivery: in one sentence, then attempt by attempt. */
async function showStory(visit: Visit, sent?: SentForm): Promise<FastifyReply> {
  const { display, environment, address } = visit
  const story = await findDelivery(visit)
  const path = pathOf(story)
  if (story.environment !== environment) return visit.reply.redirect(`/${story.environment}${path}`, 303)
  const operator = await operatorName(visit, story.operatorId)
  const decisions = [shownDecision(visit, resendOf(visit, story), path, sent)]
  const shown: readonly ShownColumn<Story>[] = [
    ['state', (row) => status(row.state)],
    'outcome',
    ['operator', ({ operatorId }) => link(operator, address(`/operators/${operatorId}`))],
    'attempts',
    'eventCreatedAt',
    'nextAttemptAt',
    'finishedAt',
    ['event', ({ eventId }) => id(eventId)],
    ['id', (row) => id(row.id)],
    ['body', ({ body }) => ({ kind: 'folded', text: body })],
  ]
  const attempts: readonly ShownColumn<Attempt>[] = [
    'startedAt',
    ['outcome', ({ error, responseStatus }) => lines(text(error ?? display.t('acknowledged')), text(responseStatus))],
    ['duration', ({ durationMs }) => text(`${durationMs} ms`)],
    'url',
    ['response', ({ responseHead }) => (responseHead ? { kind: 'folded', text: responseHead } : text(null))],
  ]
  return showCase(visit, {
    title: story.type,
    about: display.t('deliveries'),
    list: address(`/deliveries?state=${story.state}`),
    facts: factsOf(showDelivery.reply, story, shown),
    decisions,
    decisionsTitle: 'actions',
    sent,
    sections: [
      {
        title: 'attempts',
        rows: story.attemptLog.map((row) => ({
          cells: factsOf(showDelivery.reply.properties.attemptLog.items, row, attempts),
        })),
      },
    ],
  })
}

const resendOf = ({ display }: Visit, { id: deliveryId, type }: Pick<Delivery, 'id' | 'type'>): Decision => ({
  name: 'resend',
  label: 'operation.resendDelivery',
  operation: resendDelivery,
  fixed: { id: deliveryId },
  required: ['reason'],
  ask: display.t('resendAsk', { type }),
  done: `${display.word('operation', resendDelivery.id)}: ${type}`,
  tone: 'good',
})

async function showSetAsides(visit: Visit): Promise<FastifyReply> {
  const { person, query, address } = visit
  const { data, nextCursor } = await person.call(listSetAside, { limit: rowsOnPage, ...afterOf(query.after) })
  const columns: readonly ShownColumn<SetAside>[] = ['setAsideAt', 'subject', 'fault', 'operatorId', 'eventId']
  return showList(visit, {
    title: 'deliveries',
    tabs: tabsOf(visit, 'setAside'),
    rows: data.map((row) => ({
      href: address(`/set-aside/${row.id}`),
      cells: factsOf(rowSchema(listSetAside.reply), row, columns),
    })),
    path: '/set-aside',
    nextCursor,
  })
}

async function showMessage(visit: Visit, sent?: SentForm): Promise<FastifyReply> {
  const { person, params, display, address } = visit
  const message = await person.call(showSetAside, { id: params.messageId ?? '' })
  const decisions = [shownDecision(visit, rerunOf(visit), `/set-aside/${message.id}`, sent)]
  const shown: readonly ShownColumn<typeof message>[] = [
    'fault',
    'setAsideAt',
    'operatorId',
    'eventId',
    'id',
    ['payload', ({ payload }) => ({ kind: 'code', text: payload })],
  ]
  return showCase(visit, {
    title: message.subject,
    about: display.t('setAside'),
    list: address('/set-aside'),
    facts: factsOf(showSetAside.reply, message, shown),
    decisions,
    decisionsTitle: 'actions',
    sent,
  })
}

const rerunOf = ({ display, params }: Visit): Decision => ({
  name: 'rerun',
  label: 'operation.rerunSetAside',
  operation: rerunSetAside,
  fixed: { id: params.messageId ?? '' },
  ask: display.t('rerunAsk'),
  // One that cannot be read stays where it is.
  done: (reply) => {
    const { handled, left } = reply as Reply<typeof rerunSetAside>
    return display.t('rerunDone', { handled, left })
  },
  tone: 'good',
})
