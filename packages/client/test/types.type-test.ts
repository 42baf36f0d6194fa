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

declare const client: BackOfficeClient
declare const event: WebhookEvent

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const holds = <_Rule extends true>() => {}

const playerId = 'ply_1'
const deposit = { amount: '1.00', currency: 'BRL', method: 'pix', externalReference: 'pay-1' }

export function aMethodTakesWhatTheDocumentSays() {
  client.createDeposit(playerId, deposit, { idempotencyKey: 'pay-1:create' })
  // @ts-expect-error a body is demanded
  client.createDeposit(playerId)
  // @ts-expect-error money is never a number
  client.createDeposit(playerId, { ...deposit, amount: 1 })
  client.listTransactions(playerId, { limit: 10, cursor: undefined })
  // @ts-expect-error a number
  client.listTransactions(playerId, { limit: '10' })
  // @ts-expect-error not a parameter of this operation
  client.listTransactions(playerId, { page: 2 })
  client.failDeposit('dep_1', { reason: undefined })
  // @ts-expect-error not a decision
  client.decideKyc(playerId, 'approved')
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
