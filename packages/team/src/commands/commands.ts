import { type Input, operations, Rejection, type Reply, serviceNames } from '@backoffice/contracts'
import { row, type Work } from '../row.ts'
import { callPages, type Session } from '../session.ts'

const { endCommand, listCommands, listProposals, showDeposit } = operations.payments
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
    also: [listCommands, listProposals],
    arguments: ['commandId'],
    look: findCredit,
    confirm: askToEnd,
    run: end,
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

type Deposit = Reply<typeof showDeposit>

/** The deposit that would fail. Undefined where the command is no credit, or is given up already. */
async function findCredit({ commandId }: Input<typeof endCommand>, session: Session): Promise<Deposit | undefined> {
  const { data } = await session.call(listCommands, { commandId, limit: 1 })
  const [command] = data
  if (command?.operation !== 'wallet.creditAccount') return undefined
  return session.call(showDeposit, { depositId: command.subject })
}

/** What a person decides about. The id alone says nothing of that. */
function askToEnd({ commandId }: Input<typeof endCommand>, deposit: Deposit | undefined): string {
  if (deposit === undefined) return `end ${commandId}?`
  const { id, amount, currency, playerId, environment } = deposit
  return `end ${commandId}: ${amount} ${currency} of player ${playerId} in ${environment} are never credited, and deposit ${id} fails?`
}

/** How many open proposals are searched for the one about a command. */
const proposalsMax = 1_000

/** The first person proposes; when somebody else types the same command, that approves it. */
async function end({
  session,
  input,
  seen,
  operationId,
  json,
}: Work<typeof endCommand, Deposit | undefined>): Promise<unknown> {
  const { commandId } = input
  const { data } = await session.call(listProposals, { state: 'open', limit: proposalsMax })
  const proposal = data.find(
    (one) => one.operation === endCommand.id && (one.input as Partial<typeof input>).commandId === commandId,
  )
  if (proposal !== undefined) return session.approve(endCommand, { input, approves: proposal.id, operationId })
  try {
    return await session.call(endCommand, input, operationId)
  } catch (error) {
    if (!json || !(error instanceof Rejection) || error.code !== 'AWAITS_APPROVAL') throw error
    return { commandId, depositId: seen?.id, state: 'proposed', ...error.details }
  }
}
