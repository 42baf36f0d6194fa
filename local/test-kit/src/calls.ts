import { randomUUID } from 'node:crypto'
import { type Operation, operations, type Scope, seenOfWithdrawal } from '@backoffice/contracts'
import type { HttpReply, OperatorClient } from './http.ts'
import { newCpf, newPlayer } from './records.ts'
import { proposalOf, type TeamClient } from './team-calls.ts'
import type { TestRpc } from './test-bed.ts'

// One list of calls for all suites that make one of each operation: what a call needs is made by the names of its fields.

/** What a call says. */
export type Fields = Readonly<Record<string, unknown>>
// biome-ignore lint/suspicious/noExplicitAny: what it replies depends on the operation
type Body = any

/** An operator and the team, who make what must be there before a call. */
export interface Callers {
  /** Calls an operation for one brand of an operator. */
  call(operation: Operation, input: Body): Promise<Body>
  /** Calls an operation of the team, as one person of it. */
  team(operation: Operation, input: Body): Promise<Body>
}

const { gateway, players, wallet, payments, webhooks } = operations
export const reason = 'a test'
export const pix = { currency: 'BRL', method: 'pix' }

/** Sends an operation over HTTP, under a key of its own unless one is given. */
export function askAs(
  client: OperatorClient,
  { http, hasBody, body: { properties } }: Operation,
  input: Fields,
  idempotencyKey: string = randomUUID(),
): Promise<HttpReply> {
  const path = (http?.path ?? '').replaceAll(/\{(\w+)\}/g, (_, name: string) => String(input[name]))
  if (!hasBody) return client.get(path)
  const body = Object.fromEntries(Object.entries(input).filter(([name]) => name in properties))
  return client.post(path, body, { idempotencyKey })
}

/** An operator's server, whose requests must be accepted, and somebody of the team. */
export const callersOf = (client: OperatorClient, team: Pick<TeamClient, 'call'>): Callers => ({
  async call(operation, input) {
    const { status, body, bytes } = await askAs(client, operation, input)
    if (status >= 300) throw new Error(`${operation.id}: expected a success, not ${status}: ${bytes}`)
    return body
  },
  team: (operation, input) => team.call(operation, { input }),
})

export async function newPlayerOf(by: Callers): Promise<string> {
  return (await by.call(players.registerPlayer, newPlayer())).id
}

const rich = new WeakMap<Callers, Promise<string>>()

/** The one player of all calls that need an approved identity and money, of which there is enough for all. */
export function richPlayer(by: Callers): Promise<string> {
  const known = rich.get(by) ?? newRichPlayer(by)
  rich.set(by, known)
  return known
}

async function newRichPlayer(by: Callers): Promise<string> {
  const playerId = await newPlayerOf(by)
  await by.team(players.decideKyc, { playerId, submission: null, seen: null, status: 'aprovado', reason })
  const { id: depositId } = await by.call(payments.createDeposit, { playerId, ...newAmount('100000.00') })
  await by.call(payments.confirmDeposit, { depositId })
  return playerId
}

const newAmount = (amount: string) => ({ ...pix, amount, externalReference: randomUUID() })

/** @param playerId the rich one, unless something is to be wrong with the player's account */
export async function newDeposit(by: Callers, playerId?: string): Promise<string> {
  return (
    await by.call(payments.createDeposit, { playerId: playerId ?? (await richPlayer(by)), ...newAmount('10.00') })
  ).id
}

export async function newWithdrawal(by: Callers, { approved = false } = {}): Promise<string> {
  const input = { playerId: await richPlayer(by), amount: '4.00', destination: 'ana@example.com', ...pix }
  const { id } = await by.call(payments.requestWithdrawal, input)
  if (!approved) return id
  const seen = seenOfWithdrawal(await by.team(payments.showWithdrawal, { withdrawalId: id }))
  await by.team(payments.decideWithdrawal, { withdrawalId: id, ...seen, decision: 'approve' })
  return id
}

/** A file for the bank, of a withdrawal of its own. */
async function newPaymentFile(by: Callers): Promise<string> {
  return (await by.team(payments.makePaymentFile, { ids: [await newWithdrawal(by, { approved: true })] })).fileId
}

/** Another operator than that of the calls, and the key of its sandbox. */
export async function newOperatorOf(by: Callers) {
  const name = randomUUID()
  const { operatorId, sandbox } = await by.team(gateway.createOperator, { name })
  return { operatorId: operatorId as string, name, key: sandbox.key as string, environment: 'sandbox' as const }
}

/** A provider of games with a key of the sandbox. */
export async function newProviderOf(by: Callers) {
  const { id: providerId } = await by.team(gateway.createProvider, { name: `provider ${randomUUID()}`, reason })
  const { key } = await by.team(gateway.issueProviderKey, { providerId, environment: 'sandbox', reason })
  return { providerId: providerId as string, key: key as string }
}

/** The sandbox of another operator than that of the calls. */
async function newBrandOf(by: Callers): Promise<string> {
  const { name } = await newOperatorOf(by)
  const { brands } = await by.team(gateway.getOperator, { name })
  return brands.find(({ environment }: { environment: string }) => environment === 'sandbox').id
}

/**
 * A stake of 1.00 in a new round, as a provider of games that nobody else has tells the wallet: over HTTP that takes a key.
 * @returns what it may send of the round
 */
export async function stakeAs(rpc: Pick<TestRpc, 'call'>, brand: Scope, playerId: string) {
  const providerId = `prv_${randomUUID()}`
  const scope = { ...brand, provider: { id: providerId, bodyDigest: 'ab'.repeat(32) } }
  const whose = { playerId, roundId: randomUUID() }
  const own = { ...whose, transactionId: randomUUID(), currency: brand.currency, amount: '1.00' }
  const bet = { ...own, sessionId: 'ses_test', gameId: 'wallet-reels' }
  await rpc.call(wallet.stake, { scope, input: { bet, standing: null } })
  const send = (operation: Operation, input: Fields): Promise<Body> =>
    rpc.call(operation, { scope, input: input as never })
  const win = (transactionId: string, amount: string) =>
    send(wallet.creditWin, { ...whose, transactionId, amount, currency: brand.currency })
  return { providerId, brandId: brand.brandId, ...own, send, win }
}

/** A prize above any limit, which waits for two people; it needs no stake. */
export async function holdWinAs(rpc: Pick<TestRpc, 'call'>, brand: Scope, playerId: string) {
  const providerId = `prv_${randomUUID()}`
  const scope = { ...brand, provider: { id: providerId, bodyDigest: 'ab'.repeat(32) } }
  const prize = { playerId, transactionId: randomUUID(), amount: '9000000.00', currency: brand.currency }
  const input = { ...prize, kind: 'promotion' } as const
  // It is refused: it waits.
  await rpc.call(wallet.creditWin, { scope, input }).catch(() => {})
  return { providerId, brandId: brand.brandId, transactionId: prize.transactionId }
}

/** With a webhook URL of its own. */
async function newEndpoint(by: Callers) {
  const { operatorId, environment } = await newOperatorOf(by)
  await by.team(webhooks.setWebhookUrl, { operatorId, environment, url: 'http://127.0.0.1:9/hook' })
  return { operatorId, environment }
}

/** What a field names is made, by the field's name. */
const made: Readonly<Record<string, (by: Callers) => unknown>> = {
  playerId: newPlayerOf,
  depositId: (by) => newDeposit(by),
  withdrawalId: (by) => newWithdrawal(by),
  fileId: newPaymentFile,
  operatorId: async (by) => (await newOperatorOf(by)).operatorId,
  providerId: async (by) => (await newProviderOf(by)).providerId,
  environment: () => 'sandbox',
  reason: () => reason,
  reference: () => randomUUID(),
  externalReference: () => randomUUID(),
  externalId: () => randomUUID(),
  cpf: newCpf,
}

/** What an operation needs that neither a name nor its example says. */
const needed = new Map<Operation, (by: Callers) => Fields | Promise<Fields>>([
  [payments.requestWithdrawal, async (by) => ({ playerId: await richPlayer(by), amount: '4.00' })],
  [payments.makePaymentFile, async (by) => ({ ids: [await newWithdrawal(by, { approved: true })] })],
  [players.openGameSession, async (by) => ({ playerId: await richPlayer(by), gameId: 'fortune-reels' })],
  [wallet.adjustWallet, () => ({ amount: '1.00' })],
  [wallet.setWinLimit, async (by) => ({ brandId: await newBrandOf(by), maxWin: '5.00' })],
  [
    wallet.reverseTransfer,
    async (by) => {
      const playerId = await newPlayerOf(by)
      const input = { playerId, amount: '1.00', reference: randomUUID(), reason }
      return { playerId, transferId: (await by.team(wallet.adjustWallet, input)).transferId }
    },
  ],
  [players.decideKyc, () => ({ submission: null, status: 'aprovado' })],
  [
    players.releaseKycCase,
    async (by) => {
      const playerId = await newPlayerOf(by)
      await by.team(players.takeKycCase, { playerId })
      return { playerId }
    },
  ],
  [players.setPlayerStatus, () => ({ status: 'bloqueado' })],
  [players.selfExcludePlayer, () => ({ until: null })],
  [players.setDailyLimit, () => ({ dailyDepositLimit: '50.00' })],
  [
    players.anonymisePlayer,
    async (by) => {
      const playerId = await newPlayerOf(by)
      await by.team(players.setPlayerStatus, { playerId, status: 'encerrado', reason })
      return { playerId }
    },
  ],
  [players.setDocumentUrl, () => ({ template: 'https://kyc.example/documents/{reference}' })],
  [players.setGameAvailability, () => ({ brandId: `brd_${randomUUID()}`, gameId: 'lucky-tiger', available: false })],
  [players.setGameProvider, () => ({ gameId: 'lucky-tiger', providerId: 'prv_of_nobody' })],
  [gateway.createOperator, () => ({ name: randomUUID() })],
  [
    gateway.activateOperator,
    async (by) => {
      const { operatorId } = await newOperatorOf(by)
      await by.team(gateway.suspendOperator, { operatorId, reason })
      return { operatorId }
    },
  ],
  [gateway.setOperatorLimits, () => ({ rateLimitPerMinute: 7 })],
  [gateway.setReplayProtection, () => ({ replayProtection: 'on' })],
  [gateway.createProvider, () => ({ name: `provider ${randomUUID()}` })],
  [gateway.setProviderGrant, async (by) => ({ brandId: await newBrandOf(by), grant: 'active' })],
  [gateway.setProviderLimits, () => ({ stakesPerMinute: 7 })],
  [gateway.revokeProviderKey, async (by) => ({ key: (await newProviderOf(by)).key })],
  // Of nobody who calls here.
  [gateway.endSession, () => ({ session: randomUUID() })],
  [gateway.lockTeamMember, () => ({ member: `machine ${randomUUID()}` })],
  [
    gateway.declineProposal,
    async (by) => {
      const { operatorId } = await newOperatorOf(by)
      const production = { operatorId, environment: 'production', reason }
      return { proposalId: (await proposalOf(by.team(gateway.issueCredential, production))).proposalId }
    },
  ],
  [
    gateway.revokeCredential,
    async (by) => {
      const { operatorId, environment, key } = await newOperatorOf(by)
      await by.team(gateway.issueCredential, { operatorId, environment })
      return { key }
    },
  ],
  [webhooks.setWebhookUrl, () => ({ url: 'http://127.0.0.1:9/hook' })],
  [webhooks.rotateWebhookSecret, newEndpoint],
  [webhooks.disableWebhook, newEndpoint],
])

const exampleOf = ({ example }: Operation) => (example?.body ?? {}) as Fields
const requiredBy = ({ params, body }: Operation) =>
  // What was seen is looked at when the rest is there.
  [...Object.keys(params.properties), ...(body.required ?? [])].filter((name) => name !== 'seen')

/** Whether `inputOf` knows all that an operation asks for. */
export const isInputKnown = (operation: Operation): boolean =>
  needed.has(operation) || requiredBy(operation).every((name) => name in made || name in exampleOf(operation))

/** What an operation can be called with, made for this call; as the example has it where nothing must exist or be new. */
export async function inputOf(by: Callers, operation: Operation, own: Fields = {}): Promise<Fields> {
  const input: Record<string, unknown> = { ...(await needed.get(operation)?.(by)), ...own }
  for (const name of requiredBy(operation)) if (!(name in input) && name in made) input[name] = await made[name]?.(by)
  return { ...exampleOf(operation), ...input }
}
