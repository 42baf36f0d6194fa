import { operations, type SetAsideSummary } from '@backoffice/contracts'
import { type Column, print, printRecord, printTable, visible } from '../output.ts'
import { row } from '../row.ts'

const { listSetAside, showSetAside, rerunSetAside } = operations.webhooks

const columns: readonly Column<SetAsideSummary>[] = [
  ['message', 'id'],
  ['set aside', 'setAsideAt'],
  'subject',
  ['event', 'eventId'],
  ['operator', 'operatorId'],
  ['fault', ({ fault }) => fault.slice(0, 80)],
]

export const messages = [
  row({
    path: 'messages list',
    operation: listSetAside,
    show: ({ data, nextCursor }) => {
      printTable(data, columns)
      if (nextCursor !== null) print(`\nmore: --after ${nextCursor}\n`)
    },
  }),
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
