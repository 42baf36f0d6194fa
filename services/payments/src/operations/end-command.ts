import assert from 'node:assert/strict'
import { type Input, operations, Rejection } from '@backoffice/contracts'
import {
  type Call,
  endCommand as endUnfinished,
  findCommand,
  handle,
  lockCommand,
  type UnfinishedCommand,
} from '@backoffice/service-runtime'
import { takeBackConfirmation } from '../domain/deposit.ts'
import { expiryOf, openProposal } from '../domain/proposal.ts'
import { lockDeposits, updateDeposits } from '../storage/deposits.ts'
import { insertEndedCommand } from '../storage/ended-commands.ts'
import { findProposal, saveProposal } from '../storage/proposals.ts'

const operation = operations.payments.endCommand
const { creditAccount, refuseCredit } = operations.wallet
const creditName = `${creditAccount.service}.${creditAccount.id}`

type EndCall = Call<typeof operation>

const keyOf = ({ input: { commandId } }: EndCall) => ({ operation: operation.id, subject: commandId })

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
   * Asks the wallet to refuse the credit for ever, before anything is changed here: the credit may be on its way, and must
   * do nothing when it arrives later. Should this process die now, the same call is made again.
   */
  async prepare(call, { db, rpc, now }) {
    const { input, actor: person, requestId, deadline } = call
    const command = creditOf(await findCommand(db, input.commandId))
    const { aggregate: depositId, message } = command
    if (openProposal(await findProposal(db, keyOf(call)), { person, now }) === undefined)
      return { depositId, isRefused: false }
    const { state } = await rpc.call(refuseCredit, {
      scope: message.scope,
      input: { ...(message.input as Input<typeof creditAccount>), reason: input.reason },
      requestId,
      deadline,
    })
    if (state !== 'refused') throw new Rejection('COMMAND_CANNOT_BE_ENDED', { because: state })
    return { depositId, isRefused: true }
  },

  async execute(call, { db, now }, { depositId, isRefused }) {
    const { input, actor: person, operationId } = call
    const { commandId, reason } = input
    const [deposit] = await lockDeposits(db, [depositId])
    const command = creditOf(await lockCommand(db, commandId))
    const proposal = openProposal(await findProposal(db, keyOf(call)), { person, now })
    if (proposal === undefined) {
      const proposed = { proposedBy: person, proposedAt: now, operationId }
      await saveProposal(db, keyOf(call), proposed)
      const expiresAt = expiryOf(proposed).toISOString()
      return { commandId, depositId, state: 'proposed' as const, proposedBy: person, expiresAt }
    }
    // It was proposed a moment ago, after this call had looked: the next attempt asks the wallet.
    if (!isRefused) throw new Rejection('SERVICE_UNAVAILABLE')

    assert(deposit !== undefined, 'a credit is about a deposit')
    const occasion = { at: now, by: { kind: 'team', name: person } as const, reason }
    const { deposit: failed, transition } = takeBackConfirmation(deposit, occasion)
    await updateDeposits(db, [{ record: failed, transition, operationId }])
    await endUnfinished(db, command, new Rejection('DEPOSIT_NOT_PENDING', { depositId, status: failed.status }))
    await insertEndedCommand(db, { commandId, depositId, proposal, by: person, at: now, operationId })
    const { proposedBy } = proposal
    return { commandId, depositId, state: 'ended' as const, proposedBy, expiresAt: expiryOf(proposal).toISOString() }
  },
})
