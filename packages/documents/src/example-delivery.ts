import { apiVersion, type EventKind, events, sample, signWebhook } from '@backoffice/contracts'

const createdAt = '2026-03-02T12:09:00.000Z'

/** An event as an operator's server receives it: what stands in the body. */
export const exampleEvent = (kind: EventKind) => ({
  id: sample.eventId,
  type: kind,
  apiVersion,
  environment: 'sandbox',
  operatorId: sample.operatorId,
  brandId: sample.brandId,
  createdAt,
  data: events[kind].example,
})

const timestamp = String(Date.parse(createdAt) / 1000 + 1)
const body = JSON.stringify(exampleEvent('withdrawal.status_changed'))

/** A whole delivery that verifies. The documentation shows it, and it is a test vector of this name. */
export const exampleDelivery = {
  name: 'the delivery of the documentation page',
  /** No operator's: it is shown to everybody. */
  secret: 'whsec_example_of_the_documentation',
  timestamp,
  body,
  get headers(): readonly (readonly [name: string, value: string])[] {
    const signature = signWebhook(this.secret, { timestamp, body })
    return [
      ['Content-Type', 'application/json'],
      ['X-Webhook-Id', sample.eventId],
      ['X-Webhook-Timestamp', timestamp],
      ['X-Webhook-Signature', signature],
      ['X-Webhook-Signatures', `t=${timestamp},v1=${signature}`],
    ]
  },
} as const
