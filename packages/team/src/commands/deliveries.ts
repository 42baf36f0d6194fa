import { type DeliverySummary, operations } from '@backoffice/contracts'
import { type Column, print, printRecord, printSection, printTable, visible } from '../output.ts'
import { row } from '../row.ts'

const { listDeliveries, showDelivery, resendDelivery } = operations.webhooks

const columns: readonly Column<DeliverySummary>[] = [
  ['delivery', 'id'],
  ['event', 'eventId'],
  'type',
  'environment',
  'state',
  'attempts',
  ['last', ({ lastResponseStatus, lastError }) => lastResponseStatus ?? lastError],
  ['created', 'eventCreatedAt'],
  ['next', 'nextAttemptAt'],
]

export const deliveries = [
  row({
    path: 'deliveries list',
    operation: listDeliveries,
    show: ({ data, nextCursor }) => {
      printTable(data, columns)
      if (nextCursor !== null) print(`\nmore: --after ${nextCursor}\n`)
    },
  }),
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
]
