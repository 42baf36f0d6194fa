import { operations, serviceNames } from '@backoffice/contracts'
import { callPages } from '../pages.ts'
import { row, type Work } from '../row.ts'

const { listCommands } = operations.payments
const outboxes = serviceNames.map((service) => ({ service, list: operations[service].listCommands }))

export const commands = [
  row({
    path: 'commands list',
    description: 'Of all services, those that have waited for a minute or longer, oldest first',
    operation: listCommands,
    also: outboxes.map(({ list }) => list),
    run: listAll,
    columns: [
      ['command', 'id'],
      'service',
      'operation',
      'subject',
      'environment',
      ['since', 'createdAt'],
      'attempts',
      ['last fault', 'lastFault'],
      ['request', 'requestId'],
    ],
  }),
]

async function listAll({ session, input }: Work<typeof listCommands>) {
  const pages = outboxes.map(async ({ service, list }) => {
    const { data } = await callPages(session, list, input)
    return data.map((command) => ({ service, ...command }))
  })
  const all = (await Promise.all(pages)).flat()
  return { data: all.sort((a, b) => a.createdAt.localeCompare(b.createdAt)).slice(0, input.limit) }
}
