import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { TObject } from '@sinclair/typebox'
import { Rejection } from './errors.ts'
import type { Input, Operation, Reply } from './operation.ts'
import { operations } from './operations/index.ts'
import { masked } from './personal.ts'
import { Player, type Withdrawal } from './resources.ts'

/** What a call of an operation names of what was shown. */
export type SeenPart<O> = Input<O> extends { readonly seen: infer S } ? S : never

/** Of what a page shows of a record, or a service has, the part that a decision about it names. */
export function seenOf<O extends Operation>({ body }: O, record: NonNullable<SeenPart<O>>): SeenPart<O> {
  const { seen } = body.properties as { readonly seen: TObject }
  const values = record as Readonly<Record<string, unknown>>
  const names = Object.keys(seen.properties).filter((name) => values[name] !== undefined)
  return Object.fromEntries(names.map((name) => [name, values[name]])) as SeenPart<O>
}

/**
 * People decide about what they have read, and their signature says what that was: a service that told them something else
 * is found out here.
 * @param subject the id of what it is about
 * @param held the same fields, of the locked record
 * @throws {Rejection} NOT_AS_SEEN, with both
 */
export function refuseUnlessSeen<Shown extends object | null>(subject: object, seen: Shown, held: Shown): void {
  if (!isDeepStrictEqual(plain(seen), plain(held))) throw new Rejection('NOT_AS_SEEN', { ...subject, seen, held })
}

/** Rows of a database have no prototype. */
const plain = (value: object | null) => value && { ...value }

/** As `showWithdrawal` replies. */
type ShownWithdrawal = Pick<Withdrawal, 'playerId' | 'amount' | 'currency' | 'method' | 'destination'> & {
  readonly destinationSalt: string
}

/**
 * What somebody who decides about a withdrawal has seen of it: it is a part of their call, and so of what they sign. The
 * destination, with its method, is there as a digest, SHA-256 in base64url: the audit trail is kept for good and destinations
 * are not. Its salt is kept and forgotten with the destination. Without it, a PIX key that is a CPF could be guessed.
 */
export const seenOfWithdrawal = ({
  playerId,
  amount,
  currency,
  method,
  destination,
  destinationSalt,
}: ShownWithdrawal) => ({
  ...{ playerId, amount, currency },
  destinationDigest: createHash('sha256')
    .update(JSON.stringify([destinationSalt, method, destination]))
    .digest('base64url'),
})

/** As `showPlayer` replies, masked or not. */
interface ShownSubmission {
  readonly player: Pick<Player, 'name' | 'cpf' | 'birthDate'>
  readonly submission: {
    readonly documentType: string
    readonly reference: string
    readonly documentUrl?: string | null
    readonly salt: string
  }
}

/**
 * What somebody who decides an identity check has seen: who it is, masked, and the document and where it opens, as a digest,
 * like that of a destination. Its salt is forgotten with the reference.
 */
export function seenOfSubmission({ player, submission }: ShownSubmission) {
  const { name, cpf, birthDate } = masked(Player, player) as ShownSubmission['player']
  const { documentType, reference, documentUrl, salt } = submission
  // Each look at it has a link of its own.
  const opensAt = documentUrl?.replace(/[?&]expires=\d+&signature=\w+$/, '') ?? null
  const shown = JSON.stringify([salt, name, cpf, birthDate, documentType, reference, opensAt])
  return { digest: createHash('sha256').update(shown).digest('base64url') }
}

const { gateway, players, wallet, payments, webhooks } = operations

/** Calls a query of the team. */
export type ReadShown = <O extends Operation>(operation: O, input: Input<O>) => Promise<Reply<O>>

type Named = Readonly<
  Record<'operatorId' | 'playerId' | 'withdrawalId' | 'fileId' | 'transferId' | 'commandId' | 'key' | 'id', string>
> &
  Readonly<Record<'providerId' | 'brandId' | 'roundId' | 'transactionId', string>> &
  Pick<Input<typeof webhooks.showWebhook>, 'environment'> & { readonly proposalId: string }

const operatorOf = (read: ReadShown, { operatorId }: Named) => read(gateway.getOperator, { name: operatorId })
const playerOf = (read: ReadShown, { playerId }: Named) => read(players.showPlayer, { playerId })
const endpointOf = (read: ReadShown, { operatorId, environment }: Named) =>
  read(webhooks.showWebhook, { operatorId, environment })

/** The first of a list that was asked for one. */
const oneOr =
  (rejection: Rejection) =>
  ({ data: [row] }: { readonly data: readonly object[] }): object => {
    if (row === undefined) throw rejection
    return row
  }

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

const entryOf = (read: ReadShown, { playerId, transferId }: Named) =>
  read(wallet.listEntries, { playerId, transferId, limit: 1 }).then(oneOr(new Rejection('TRANSFER_NOT_FOUND')))

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

const fileOf = (read: ReadShown, { fileId }: Named) => read(payments.showPaymentFile, { fileId })

const providerOf = (read: ReadShown, { providerId }: Named) => read(gateway.getProvider, { name: providerId })

async function providerKeyOf(read: ReadShown, { key }: Named) {
  for (let after = {}; ; ) {
    const { data, nextCursor } = await read(gateway.listProviders, after)
    for (const { name, keys } of data) {
      const found = keys.find((one) => one.key === key)
      if (found !== undefined) return { name, environment: found.environment }
    }
    if (nextCursor === null) throw new Rejection('CREDENTIAL_NOT_FOUND')
    after = { after: nextCursor }
  }
}

const roundOf = (read: ReadShown, { roundId }: Named) =>
  read(wallet.listRounds, { roundId, limit: 1 }).then(oneOr(new Rejection('ROUND_NOT_FOUND')))

const heldWinOf = (read: ReadShown, { providerId, brandId, transactionId }: Named) =>
  read(wallet.listHeldWins, { providerId, brandId, transactionId, limit: 1 }).then(
    oneOr(new Rejection('HELD_WIN_NOT_FOUND')),
  )

async function winLimitOf(read: ReadShown, { providerId, brandId }: Named) {
  const { data, otherwise } = await read(wallet.listWinLimits, { providerId, brandId, limit: 1 })
  return data[0] ?? { maxWin: otherwise }
}

const proposalOf = (read: ReadShown, { proposalId }: Named, { service }: Operation) =>
  read(operations[service].listProposals, { proposalId, limit: 1 }).then(oneOr(new Rejection('PROPOSAL_NOT_FOUND')))

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
  discardPaymentFile: fileOf,
  endCommand: creditOf,
  setProviderGrant: providerOf,
  setProviderLimits: providerOf,
  suspendProvider: providerOf,
  activateProvider: providerOf,
  issueProviderKey: providerOf,
  revokeProviderKey: providerKeyOf,
  voidRound: roundOf,
  endRound: roundOf,
  releaseWin: heldWinOf,
  setWinLimit: winLimitOf,
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
