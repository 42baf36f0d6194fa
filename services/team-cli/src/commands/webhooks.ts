import {
  type Input,
  type Operation,
  operations,
  readSeen,
  type SeenPart,
  seenOf,
  serviceNames,
  visible,
  type WebhookEndpoint,
} from '@backoffice/contracts'
import { type List, lists, operator, textColumns } from '@backoffice/team-rows'
import { print, printRecord, printSection, printTable } from '../output.ts'
import { listed, row } from '../row.ts'
import { callAll, type Session } from '../session.ts'

const faultOf = (lastFault: WebhookEndpoint['lastFault']) =>
  lastFault && `${lastFault.at} ${lastFault.responseStatus ?? lastFault.error}`

const { setWebhookUrl, showWebhook, rotateWebhookSecret, disableWebhook } = operations.webhooks

export const webhook = [
  row({ path: 'webhook set', operation: setWebhookUrl, show: showEndpoint }),
  row({ path: 'webhook show', operation: showWebhook, show: showEndpoint }),
  listed(lists.endpoints),
  row({
    path: 'webhook hours',
    operation: operations.webhooks.listDeliveryHours,
    fixed: { operatorIds: undefined },
    columns: [
      operator,
      ['events', ({ events }) => events.reduce((sum, one) => sum + one)],
      ['in time', ({ inTime }) => inTime.reduce((sum, one) => sum + one)],
    ],
  }),
  row({
    path: 'webhook rotate-secret',
    operation: rotateWebhookSecret,
    confirm: ({ operatorId, environment }) => `Rotate the webhook secret of ${operatorId} in ${environment}?`,
  }),
  row({ path: 'webhook disable', operation: disableWebhook, show: showEndpoint }),
]

function showEndpoint({ secrets, breaker, lastFault, ...endpoint }: WebhookEndpoint): void {
  const { state, consecutiveFailures, retryAt } = breaker
  printRecord({ ...endpoint, breaker: state, consecutiveFailures, retryAt, lastFault: faultOf(lastFault) })
  printSection('secrets', secrets, [
    ['created', 'createdAt'],
    ['signs until', ({ expiresAt }) => expiresAt ?? 'replaced'],
  ])
}

const { countDeliveries, showDelivery, resendDelivery, resendDeliveries } = operations.webhooks

/** With the place at which the next page begins. */
const paged = <O extends Operation, Shown>(list: List<O, Shown>) =>
  row<O, { readonly data: readonly Shown[]; readonly nextCursor: string | null }>({
    path: list.command,
    operation: list.operation,
    isNamed: true,
    show: ({ data, nextCursor }) => {
      printTable(data, textColumns(list))
      if (nextCursor !== null) print(`\nmore: --after ${nextCursor}\n`)
    },
  })

export const deliveries = [
  paged(lists.deliveries),
  row({ path: 'deliveries count', operation: countDeliveries }),
  row({
    path: 'deliveries show',
    operation: showDelivery,
    arguments: ['id'],
    show: ({ outcome, attemptLog, body, ...delivery }) => {
      print(`${visible(outcome)}\n\n`)
      printRecord(delivery)
      printSection('attempts', attemptLog, [
        ['#', 'number'],
        ['at', 'startedAt'],
        ['ms', 'durationMs'],
        ['status', 'responseStatus'],
        'error',
        ['response', ({ responseHead }) => responseHead?.slice(0, 60)],
      ])
      print(`\nbody\n${visible(body)}\n`)
    },
  }),
  row({ path: 'deliveries resend', operation: resendDelivery, arguments: ['id'] }),
  row({ path: 'deliveries resend-several', operation: resendDeliveries }),
]

const { replayEvents } = operations.webhooks

/** Where events go. */
async function findEndpoint({ operatorId: name, environment }: Input<typeof replayEvents>, session: Session) {
  const { id: operatorId } = await session.operator(name)
  return session.call(showWebhook, { operatorId, environment })
}

export const events = [
  row({
    path: 'events replay',
    operation: replayEvents,
    look: findEndpoint,
    confirm: ({ operatorId, environment, since }, { url }) =>
      `Send the events of ${operatorId} in ${environment} since ${since} again, to ${url}?`,
    // Call after call, so that none lasts long. One that is broken off goes on with --after its last delivery.
    async run({ session, input: given, seen: endpoint, operationId }) {
      const input = { ...given, seen: seenOf(replayEvents, endpoint) }
      let { nextCursor, ...all } = await session.call(replayEvents, input, operationId)
      while (nextCursor !== null) {
        const { scheduled, lastAt, ...rest } = await session.call(
          replayEvents,
          { ...input, after: nextCursor },
          undefined,
        )
        all = { ...all, scheduled: all.scheduled + scheduled, lastAt: lastAt ?? all.lastAt }
        nextCursor = rest.nextCursor
      }
      return all
    },
  }),
]

const { showSetAside, rerunSetAside } = operations.webhooks

export const messages = [
  paged(lists.setAside),
  row({
    path: 'messages show',
    operation: showSetAside,
    arguments: ['id'],
    show: ({ payload, ...message }) => {
      printRecord(message)
      print(`\npayload\n${visible(payload)}\n`)
    },
  }),
  row({ path: 'messages rerun', operation: rerunSetAside }),
]

const { endCommand } = operations.payments
const outboxes = serviceNames.map((service) => ({ service, list: operations[service].listCommands }))

export const commands = [
  listed(lists.commands, {
    description: 'Of all services, those that have waited for a minute or longer, oldest first',
    also: outboxes.map(({ list }) => list),
    // Ids are ordered by time.
    run: ({ session, input }) => callAll(session, outboxes, input, (a, b) => (a.id < b.id ? -1 : 1)),
  }),
  row({
    path: 'commands end',
    operation: endCommand,
    arguments: ['commandId'],
    look: findCredit,
    confirm: askToEnd,
  }),
]

type Credit = SeenPart<typeof endCommand>

/** The credit that would be given up. */
async function findCredit({ commandId }: Input<typeof endCommand>, session: Session): Promise<Credit> {
  const { seen } = await readSeen((query, asked) => session.call(query, asked), endCommand, { commandId })
  return seen as Credit
}

/** What a person decides about. The id alone says nothing of that. */
function askToEnd(
  { commandId }: Input<typeof endCommand>,
  { depositId, amount, currency, playerId, environment }: Credit,
): string {
  return `end ${commandId}: ${amount} ${currency} of player ${playerId} in ${environment} are never credited, and deposit ${depositId} fails?`
}
