import { Rejection } from './errors.ts'
import type { Input, Operation, Reply } from './operation.ts'
import { operations } from './operations/index.ts'
import { seenOf } from './seen.ts'
import { seenOfSubmission } from './seen-submission.ts'
import { seenOfWithdrawal } from './seen-withdrawal.ts'

const { gateway, players, wallet, payments, webhooks } = operations

/** Calls a query of the team. */
export type ReadShown = <O extends Operation>(operation: O, input: Input<O>) => Promise<Reply<O>>

type Named = Readonly<
  Record<'operatorId' | 'playerId' | 'withdrawalId' | 'transferId' | 'commandId' | 'key' | 'id', string>
> &
  Pick<Input<typeof webhooks.showWebhook>, 'environment'> & { readonly proposalId: string }

const operatorOf = (read: ReadShown, { operatorId }: Named) => read(gateway.getOperator, { name: operatorId })
const playerOf = (read: ReadShown, { playerId }: Named) => read(players.showPlayer, { playerId })
const endpointOf = (read: ReadShown, { operatorId, environment }: Named) =>
  read(webhooks.showWebhook, { operatorId, environment })

async function credentialOf(read: ReadShown, { key }: Named) {
  for (let after = {}; ; ) {
    const { data, nextCursor } = await read(gateway.listOperators, after)
    for (const { name, credentials } of data) {
      const found = credentials.find((credential) => credential.key === key)
      if (found !== undefined) return { name, environment: found.environment }
    }
    if (nextCursor === null) throw new Rejection('CREDENTIAL_NOT_FOUND')
    after = { after: nextCursor }
  }
}

async function entryOf(read: ReadShown, { playerId, transferId }: Named) {
  const { data } = await read(wallet.listEntries, { playerId, transferId, limit: 1 })
  if (data[0] === undefined) throw new Rejection('TRANSFER_NOT_FOUND')
  return data[0]
}

/** The deposit that would fail. */
async function creditOf(read: ReadShown, { commandId }: Named) {
  const { data } = await read(payments.listCommands, { commandId, limit: 1 })
  const [command] = data
  if (command === undefined) throw new Rejection('COMMAND_NOT_FOUND')
  const { operation, subject } = command
  if (operation !== `wallet.${wallet.creditAccount.id}`)
    throw new Rejection('COMMAND_CANNOT_BE_ENDED', { because: 'no credit', operation })
  const { id: depositId, ...deposit } = await read(payments.showDeposit, { depositId: subject })
  return { depositId, ...deposit }
}

async function proposalOf(read: ReadShown, { proposalId }: Named, { service }: Operation) {
  const { data } = await read(operations[service].listProposals, { proposalId, limit: 1 })
  if (data[0] === undefined) throw new Rejection('PROPOSAL_NOT_FOUND')
  return data[0]
}

/** The record that a decision is about, by the id of the operation. */
const records: Readonly<Record<string, (read: ReadShown, named: Named, operation: Operation) => Promise<object>>> = {
  suspendOperator: operatorOf,
  activateOperator: operatorOf,
  setOperatorLimits: operatorOf,
  setReplayProtection: operatorOf,
  issueCredential: operatorOf,
  revokeCredential: credentialOf,
  setWebhookUrl: endpointOf,
  rotateWebhookSecret: endpointOf,
  disableWebhook: endpointOf,
  replayEvents: endpointOf,
  resendDeliveries: endpointOf,
  resendDelivery: (read, { id }) => read(webhooks.showDelivery, { id }),
  setDocumentUrl: (read, { operatorId, environment }) => read(players.showDocumentUrl, { operatorId, environment }),
  setPlayerStatus: playerOf,
  selfExcludePlayer: playerOf,
  setDailyLimit: playerOf,
  anonymisePlayer: playerOf,
  adjustWallet: playerOf,
  reverseTransfer: entryOf,
  endCommand: creditOf,
  declineProposal: proposalOf,
}

/** What people are shown before they decide, as the part of the input that says so: for programs, that look as well. */
export async function readSeen<O extends Operation>(
  read: ReadShown,
  operation: O,
  input: object,
): Promise<Partial<Input<O>>> {
  const named = input as Named
  if (operation.id === players.decideKyc.id) {
    const player = await playerOf(read, named)
    const [submission] = player.submissions
    const seen = submission === undefined ? null : seenOfSubmission({ player, submission })
    return { submission: submission?.id ?? null, seen } as object
  }
  if (operation.id === payments.decideWithdrawal.id) {
    const { withdrawalId } = named
    return seenOfWithdrawal(await read(payments.showWithdrawal, { withdrawalId })) as object
  }
  const recordOf = records[operation.id]
  if (recordOf === undefined) return {}
  return { seen: seenOf(operation, (await recordOf(read, named, operation)) as never) } as object
}
