import { randomUUID } from 'node:crypto'
import type { BackOfficeClient } from '../client.ts'
import type { Player, WebhookEventType } from '../types.ts'

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

/** A day has to end first. */
type Triggered = Exclude<WebhookEventType, 'play.day_closed'>

/** The shortest way to each event. Each says the id of what the event is about. */
const journeys: Readonly<Record<Triggered, Journey>> = {
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

const eventTypes = Object.keys(journeys) as Triggered[]

/** @throws there is no such event, with those that there are */
export function eventTypeOf(name: string): Triggered {
  const type = eventTypes.find((one) => one === name)
  if (type === undefined) throw new Error(`there is no event "${name}", but ${eventTypes.join(', ')}`)
  return type
}

/** The event of `trigger EVENT`; undefined without words. @throws the words are others */
export function eventToTrigger([command, event = '', ...more]: readonly string[]): Triggered | undefined {
  if (command === undefined) return undefined
  if (command !== 'trigger' || more.length > 0) throw new Error('the only command is: trigger EVENT')
  return eventTypeOf(event)
}

/**
 * Makes an event happen in the sandbox, by what an operator's server would call.
 * @returns what happened, in words
 */
export async function trigger(client: BackOfficeClient, type: Triggered): Promise<string> {
  const { operator, brand } = await client.me()
  // In production the same calls would book a deposit.
  if (operator.environment !== 'sandbox') throw new Error('trigger works in the sandbox only')
  return `${type} of ${await journeys[type](client, { currency: brand.currency, method: 'pix' })}\n`
}
