import { type Input, operations, readSeen, type SeenPart, serviceNames } from '@backoffice/contracts'
import { row, type Work } from '../row.ts'
import { callPages, type Session } from '../session.ts'

const { endCommand, listCommands } = operations.payments
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
  row({
    path: 'commands end',
    operation: endCommand,
    arguments: ['commandId'],
    look: findCredit,
    confirm: askToEnd,
  }),
]

async function listAll({ session, input }: Work<typeof listCommands>) {
  const pages = outboxes.map(async ({ service, list }) => {
    const { data } = await callPages(session, list, input)
    return data.map((command) => ({ service, ...command }))
  })
  const all = (await Promise.all(pages)).flat()
  // Ids are ordered by time, and the next page begins at the last one.
  return { data: all.sort((a, b) => (a.id < b.id ? -1 : 1)).slice(0, input.limit) }
}

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
