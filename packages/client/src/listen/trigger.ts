import { randomUUID } from 'node:crypto'
import { exampleEvents } from '../api.ts'
import type { BackOfficeClient } from '../client.ts'
import type { Player, WebhookEventType } from '../types.ts'
import { forward, signedAnew } from './listener.ts'

type Journey = (
  client: BackOfficeClient,
  terms: { readonly currency: string; readonly method: string },
) => Promise<string>

const newPlayer = (client: BackOfficeClient): Promise<Player> =>
  client.registerPlayer({
    externalId: `trigger-${randomUUID()}`,
    name: 'Ana Souza',
    email: 'ana@example.com',
    cpf: '529.982.247-25',
    birthDate: '1990-05-17',
  })

const confirmedDeposit = async (client: BackOfficeClient, playerId: string, terms: Parameters<Journey>[1]) => {
  const payment = { ...terms, amount: '150.00', externalReference: `trigger-${randomUUID()}` }
  return client.confirmDeposit((await client.createDeposit(playerId, payment)).id)
}

/** The shortest way to each event that a call causes. Each says the id of what the event is about. */
const journeys: Readonly<Partial<Record<WebhookEventType, Journey>>> = {
  async 'kyc.status_changed'(client) {
    const { id } = await newPlayer(client)
    await client.decideKyc(id, 'aprovado')
    return id
  },
  async 'deposit.confirmed'(client, terms) {
    const { id } = await newPlayer(client)
    return (await confirmedDeposit(client, id, terms)).id
  },
  async 'withdrawal.status_changed'(client, terms) {
    const { id } = await newPlayer(client)
    await client.decideKyc(id, 'aprovado')
    await confirmedDeposit(client, id, terms)
    const payout = { ...terms, amount: '40.00', destination: 'ana@example.com' }
    // Cancelled, so that nobody has to pay it.
    return (await client.cancelWithdrawal((await client.requestWithdrawal(id, payout)).id)).id
  },
  async 'webhook.test'(client) {
    const { eventId, delivered, responseStatus, error } = await client.testWebhook()
    if (!delivered) throw new Error(`webhook.test was not delivered: ${error ?? `the answer was ${responseStatus}`}`)
    return eventId
  },
}

const eventTypes = Object.keys(exampleEvents) as WebhookEventType[]

/** @throws there is no such event, with those that there are */
export function eventTypeOf(name: string): WebhookEventType {
  const type = eventTypes.find((one) => one === name)
  if (type === undefined) throw new Error(`there is no event "${name}", but ${eventTypes.join(', ')}`)
  return type
}

/** The event of `trigger EVENT`; undefined without words. @throws the words are others */
export function eventToTrigger([command, event = '', ...more]: readonly string[]): WebhookEventType | undefined {
  if (command === undefined) return undefined
  if (command !== 'trigger' || more.length > 0) throw new Error('the only command is: trigger EVENT')
  return eventTypeOf(event)
}

interface Trigger {
  readonly type: WebhookEventType
  readonly client: () => BackOfficeClient
  readonly secrets: () => readonly string[]
  readonly forwardTo: URL | undefined
}

/**
 * Makes an event happen in the sandbox, by what an operator's server would call. Of one that no call causes an example goes
 * to a receiver, signed as the API does it.
 * @returns what happened, in words
 */
export async function trigger({ type, client, secrets, forwardTo }: Trigger): Promise<string> {
  const journey = journeys[type]
  if (journey === undefined) return sendExample(type, secrets, forwardTo)
  const backOffice = client()
  const { operator, brand } = await backOffice.me()
  // In production the same calls would book a deposit.
  if (operator.environment !== 'sandbox') throw new Error('trigger works in the sandbox only')
  return `${type} of ${await journey(backOffice, { currency: brand.currency, method: 'pix' })}\n`
}

async function sendExample(type: WebhookEventType, secrets: Trigger['secrets'], url: URL | undefined): Promise<string> {
  if (url === undefined)
    throw new Error(`no call of yours causes ${type}: --forward-to URL says where an example of it is sent`)
  const event = { ...exampleEvents[type], id: `evt_example_${randomUUID()}`, createdAt: new Date().toISOString() }
  const headers = { 'content-type': 'application/json', 'x-webhook-id': event.id }
  const delivery = signedAnew({ headers, body: Buffer.from(JSON.stringify(event)) }, secrets(), new Date())
  const { status, text } = await forward(delivery, url)
  if (status === undefined) throw new Error(`the example of ${type} was not sent: ${text}`)
  return `an example of ${type}, ${event.id}, to ${url}: the answer was ${status}\n`
}
