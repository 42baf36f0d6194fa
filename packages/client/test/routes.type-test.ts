// Nothing here runs: the compiler reads it, and a line that it ought to refuse and accepts is an error.
import {
  type ApiReply,
  type BackOfficeClient,
  BackOfficeError,
  type ErrorCode,
  type Player,
  type Wallet,
  type WebhookEvent,
  type WebhookEventData,
  type WebhookEventOf,
  type webhooks,
} from '../src/index.ts'
import type { Routes } from '../src/routes.ts'

declare const routes: Routes
declare const client: BackOfficeClient
declare const event: WebhookEvent

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <_Rule extends true>() => {}

const playerId = 'ply_1'
const path = { playerId }
const deposit = { amount: '1.00', currency: 'BRL', method: 'pix', externalReference: 'pay-1' }

export function aPathIsOneOfTheDocument() {
  routes.get('/players/{playerId}/wallet', { path })
  // @ts-expect-error no such path
  routes.get('/players/{playerId}/wallets', { path })
  // @ts-expect-error a path with its parameters filled in is no path of the document
  routes.get('/players/ply_1/wallet', { path })
  // @ts-expect-error nothing is posted there
  routes.post('/players/{playerId}/wallet', { path })
  // @ts-expect-error nothing is read there
  routes.get('/players/{playerId}/deposits', { path })
}

export function anIdempotencyKeyIsSentWhereTheDocumentDemandsIt() {
  routes.command('/players/{playerId}/deposits', { path, body: deposit })
  // @ts-expect-error a deposit needs a key
  routes.post('/players/{playerId}/deposits', { path, body: deposit })
  routes.post('/players/{playerId}/game-sessions', { path, body: { gameId: 'fortune-reels' } })
  // @ts-expect-error a game session takes none
  routes.command('/players/{playerId}/game-sessions', { path, body: { gameId: 'fortune-reels' } })
}

export function pathParametersAreThoseOfThePath() {
  // @ts-expect-error none given
  routes.get('/players/{playerId}/wallet', {})
  // @ts-expect-error another path's
  routes.get('/players/{playerId}/wallet', { path: { withdrawalId: 'wdr_1' } })
  // @ts-expect-error not text
  routes.get('/players/{playerId}/wallet', { path: { playerId: 1 } })
  // @ts-expect-error one too many
  routes.get('/players/{playerId}/wallet', { path: { playerId, depositId: 'dep_1' } })
  // @ts-expect-error the path has none
  routes.get('/me', { path })
}

export function theQueryIsThatOfTheOperation() {
  routes.get('/players', { query: { externalId: 'user-42' } })
  // @ts-expect-error demanded
  routes.get('/players', {})
  // @ts-expect-error demanded, and not there
  routes.get('/players', { query: { externalId: undefined } })
  routes.get('/players/{playerId}/transactions', { path })
  routes.get('/players/{playerId}/transactions', { path, query: { limit: 10, cursor: undefined } })
  // @ts-expect-error a number
  routes.get('/players/{playerId}/transactions', { path, query: { limit: '10' } })
  // @ts-expect-error not a parameter of this operation
  routes.get('/players/{playerId}/transactions', { path, query: { page: 2 } })
}

export function theBodyIsThatOfTheOperation() {
  // @ts-expect-error none given
  routes.command('/players/{playerId}/deposits', { path })
  // @ts-expect-error without an amount
  routes.command('/players/{playerId}/deposits', { path, body: { ...deposit, amount: undefined } })
  // @ts-expect-error money is never a number
  routes.command('/players/{playerId}/deposits', { path, body: { ...deposit, amount: 1 } })
  // @ts-expect-error not a decision
  routes.post('/sandbox/players/{playerId}/kyc/decision', { path, body: { status: 'approved' } })
  // @ts-expect-error a read takes no body
  routes.get('/players/{playerId}/wallet', { path, body: {} })
}

export async function theReplyIsThatOfTheOperation() {
  const wallet = await routes.get('/players/{playerId}/wallet', { path })
  holds<Equal<typeof wallet, Wallet>>()
  const { data } = await routes.get('/players', { query: { externalId: 'user-42' } })
  holds<Equal<typeof data, Player[]>>()
  // @ts-expect-error a wallet is not a player
  const player: Player = wallet
  return player
}

export function aMethodOfTheClientAnswersItsRecord() {
  holds<Equal<Awaited<ReturnType<BackOfficeClient['getWallet']>>, Wallet>>()
  const promise: Promise<Wallet> = client.getWallet(playerId)
  const reply: Promise<ApiReply<Wallet>> = client.getWallet(playerId).withResponse()
  holds<Equal<Awaited<ReturnType<BackOfficeClient['findPlayer']>>, Player | null>>()
  // @ts-expect-error a player needs more than a name
  client.registerPlayer({ name: 'Ana' })
  return [promise, reply]
}

export function anErrorHasOneOfThePublishedCodesAndTheDetailsOfItsCode(error: unknown) {
  if (!(error instanceof BackOfficeError)) return
  holds<Equal<typeof error.code, ErrorCode | 'UNKNOWN'>>()
  // @ts-expect-error no such code
  if (error.code === 'PLAYER_EXISTS_ALREADY') return
  // @ts-expect-error a code of the team's side, which no operator meets
  if (error.code === 'LOGIN_REQUIRED') return
  if (error.code === 'PLAYER_ALREADY_EXISTS') holds<Equal<typeof error.details, { playerId: string }>>()
  if (error.code === 'NOT_FOUND') holds<Equal<typeof error.details, undefined>>()
  if (error.code === 'RG_BLOCKED') {
    const reason: 'self_exclusion' | 'daily_limit' | 'sandbox_trigger' = error.details.reason
    return reason
  }
  // @ts-expect-error they are there under replay protection only
  if (error.code === 'IDEMPOTENCY_CONFLICT') return error.details.signature
  // @ts-expect-error which details there are depends on the code
  return error.details.playerId
}

export function everyWebhookOfTheDocumentIsAnEvent() {
  holds<Equal<WebhookEvent['type'], keyof webhooks>>()
  holds<Equal<WebhookEventOf<'deposit.confirmed'>['type'], 'deposit.confirmed'>>()
  holds<Equal<WebhookEventData<'webhook.test'>, { message: string }>>()
  if (event.type === 'deposit.confirmed') holds<Equal<typeof event.data, WebhookEventData<'deposit.confirmed'>>>()
  // @ts-expect-error no such event
  if (event.type === 'deposit.created') return
  // @ts-expect-error only some events have a version
  return event.data.version
}
