import { type Input, operations, serviceNames } from '@backoffice/contracts'
import { callPages } from '../pages.ts'
import { row, type Work } from '../row.ts'
import type { Session } from '../session.ts'

const { endCommand, listCommands, showDeposit } = operations.payments
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
  row({ path: 'commands end', operation: endCommand, arguments: ['commandId'], confirm: askToEnd }),
]

async function listAll({ session, input }: Work<typeof listCommands>) {
  const pages = outboxes.map(async ({ service, list }) => {
    const { data } = await callPages(session, list, input)
    return data.map((command) => ({ service, ...command }))
  })
  const all = (await Promise.all(pages)).flat()
  return { data: all.sort((a, b) => a.createdAt.localeCompare(b.createdAt)).slice(0, input.limit) }
}

/** What a person decides about. The id alone says nothing of that. */
async function askToEnd({ commandId }: Input<typeof endCommand>, session: Session): Promise<string> {
  const { data } = await session.call(listCommands, { commandId, limit: 1 })
  const [command] = data
  if (command?.operation !== 'wallet.creditAccount') return `end ${commandId}?`
  const deposit = await session.call(showDeposit, { depositId: command.subject })
  const { id, amount, currency, playerId, environment } = deposit
  return `end ${commandId}: ${amount} ${currency} of player ${playerId} in ${environment} are never credited, and deposit ${id} fails?`
}
