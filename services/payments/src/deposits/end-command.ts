// Operations.

import assert from 'node:assert/strict'
import { type Input, operations, Rejection } from '@backoffice/contracts'
import {
  endCommand as endUnfinished,
  findCommand,
  handle,
  lockCommand,
  type UnfinishedCommand,
} from '@backoffice/service-runtime'
import { takeBackConfirmation } from './deposit.ts'
import { insertEndedCommand, lockDeposits, updateDeposits } from './records.ts'

const operation = operations.payments.endCommand
const { creditAccount, refuseCredit } = operations.wallet
const creditName = `${creditAccount.service}.${creditAccount.id}`

/**
 * Only a credit is given up. What the other commands stand for has happened outside, so that there is nothing to take
 * back: see the README.
 */
function creditOf(command: UnfinishedCommand | undefined): UnfinishedCommand {
  if (command === undefined) throw new Rejection('COMMAND_NOT_FOUND')
  if (command.name !== creditName)
    throw new Rejection('COMMAND_CANNOT_BE_ENDED', { because: 'no credit', operation: command.name })
  return command
}

export const endCommand = handle(operation, {
  /**
   * When the second person calls, the approval is committed. Then the wallet is asked to refuse the credit for ever, before
   * anything else is changed here: the credit may be on its way, and must do nothing when it arrives later. So no credit is
   * refused whose proposal was declined or has expired. Should this process die now, the same call is made again.
   */
  async prepare({ input, requestId, deadline }, { db, rpc, approveFirst }) {
    const { aggregate: depositId, message } = creditOf(await findCommand(db, input.commandId))
    const proposal = await approveFirst()
    if (proposal === undefined) return { depositId, proposal }
    const { state } = await rpc.call(refuseCredit, {
      scope: message.scope,
      input: { ...(message.input as Input<typeof creditAccount>), reason: input.reason },
      requestId,
      deadline,
    })
    if (state !== 'refused') throw new Rejection('COMMAND_CANNOT_BE_ENDED', { because: state })
    return { depositId, proposal }
  },

  async execute({ input, caller, operationId }, { db, now }, { depositId, proposal }) {
    const { commandId, reason } = input
    const [deposit] = await lockDeposits(db, [depositId])
    const command = creditOf(await lockCommand(db, commandId))
    assert(deposit !== undefined, 'a credit is about a deposit')
    assert(proposal !== undefined, 'only an approval is carried out')
    const occasion = { at: now, by: { kind: 'team', name: caller.name, id: caller.id } as const, reason }
    const { deposit: failed, transition } = takeBackConfirmation(deposit, occasion)
    await updateDeposits(db, [{ record: failed, transition, operationId }])
    await endUnfinished(db, command, new Rejection('DEPOSIT_NOT_PENDING', { depositId, status: failed.status }))
    await insertEndedCommand(db, { commandId, depositId, proposal, by: caller.name, at: now, operationId })
    const { proposedBy, expiresAt } = proposal
    return { commandId, depositId, state: 'ended' as const, proposedBy, expiresAt: expiresAt.toISOString() }
  },
})
