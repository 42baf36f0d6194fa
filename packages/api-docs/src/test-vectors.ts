import { readFileSync } from 'node:fs'
import {
  apiVersion,
  bodySha256,
  canonicalString,
  type EventKind,
  events,
  type Operation,
  operations,
  providerApiPrefix,
  publicEventKinds,
  sample,
  signRequest,
  signWebhook,
  timestampToleranceSeconds,
} from '@backoffice/contracts'

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

const deliveredAt = String(Date.parse(createdAt) / 1000 + 1)
const deliveredBody = JSON.stringify(exampleEvent('withdrawal.status_changed'))

/** A whole delivery that verifies. The documentation shows it, and it is a test vector of this name. */
export const exampleDelivery = {
  name: 'the delivery of the documentation page',
  /** No operator's: it is shown to everybody. */
  secret: 'whsec_example_of_the_documentation',
  timestamp: deliveredAt,
  body: deliveredBody,
  get headers(): readonly (readonly [name: string, value: string])[] {
    const signature = signWebhook(this.secret, this)
    return [
      ['Content-Type', 'application/json'],
      ['X-Webhook-Id', sample.eventId],
      ['X-Webhook-Timestamp', deliveredAt],
      ['X-Webhook-Signature', signature],
      ['X-Webhook-Signatures', `t=${deliveredAt},v1=${signature}`],
    ]
  },
} as const

/** Secrets of no operator: they exist in the vectors alone. */
const operatorSecret = 'sk_test_vector_secret_1'
const webhookSecret = 'whsec_test_vector_secret_1'
const timestamp = '1767225600'
const player = '/api/v1/players/ply_01kaj6dfw0e2x8bxmtpcs8nwfe'

type RequestCase = readonly [
  name: string,
  method: string,
  path: string,
  body: string,
  overrides?: { secret?: string; timestamp?: string },
]

const requestCases: readonly RequestCase[] = [
  ['GET without query or body', 'GET', '/api/v1/me', ''],
  ['GET with a query', 'GET', '/api/v1/players?externalId=user-42', ''],
  ['query order is kept: limit first', 'GET', `${player}/transactions?limit=2&cursor=abc`, ''],
  ['query order is kept: cursor first', 'GET', `${player}/transactions?cursor=abc&limit=2`, ''],
  ['an empty query keeps its question mark', 'GET', '/api/v1/me?', ''],
  ['a query value without a name', 'GET', '/api/v1/players?=x', ''],
  ['a repeated query name', 'GET', '/api/v1/players?externalId=a&externalId=b', ''],
  ['percent-encoding is signed as sent: %20', 'GET', '/api/v1/players?externalId=user%2042', ''],
  ['percent-encoding is signed as sent: plus', 'GET', '/api/v1/players?externalId=user+42', ''],
  ['lowercase percent-encoding is not normalised', 'GET', '/api/v1/players?externalId=a%2fb', ''],
  ['uppercase percent-encoding is not normalised', 'GET', '/api/v1/players?externalId=a%2Fb', ''],
  ['UTF-8 in a percent-encoded query', 'GET', '/api/v1/players?externalId=jo%C3%A3o%E2%82%AC', ''],
  ['a double slash is kept', 'GET', '/api/v1//me', ''],
  ['dot segments are kept', 'GET', '/api/v1/players/../me', ''],
  ['a trailing slash is kept', 'GET', '/api/v1/me/', ''],
  ['a percent-encoded path segment', 'GET', '/api/v1/players/ply%5F01/wallet', ''],
  ['POST with a compact JSON body', 'POST', '/api/v1/players', '{"externalId":"user-42","name":"Ana Souza"}'],
  ['whitespace in the body counts', 'POST', '/api/v1/players', '{ "externalId": "user-42", "name": "Ana Souza" }'],
  ['key order in the body counts', 'POST', '/api/v1/players', '{"name":"Ana Souza","externalId":"user-42"}'],
  ['LF line ends in the body', 'POST', '/api/v1/players', '{\n  "externalId": "user-42"\n}\n'],
  ['CRLF line ends in the body', 'POST', '/api/v1/players', '{\r\n  "externalId": "user-42"\r\n}\r\n'],
  ['a tab in the body', 'POST', '/api/v1/players', '{\t"externalId":"user-42"}'],
  ['Portuguese letters in the body', 'POST', '/api/v1/players', '{"name":"João Conceição"}'],
  ['an emoji in the body', 'POST', '/api/v1/players', '{"name":"Ana 🎲"}'],
  ['the same emoji as JSON escapes', 'POST', '/api/v1/players', '{"name":"Ana \\ud83c\\udfb2"}'],
  ['composed and decomposed letters differ', 'POST', '/api/v1/players', '{"name":"Joa\u0303o"}'],
  ['an empty JSON object', 'POST', '/api/v1/deposits/dep_01kaj6fqs2e1hv2q9rqf3x6t4m/confirm', '{}'],
  ['POST with an absent body', 'POST', '/api/v1/deposits/dep_01kaj6fqs2e1hv2q9rqf3x6t4m/confirm', ''],
  ['a body of a single space', 'POST', '/api/v1/deposits/dep_01kaj6fqs2e1hv2q9rqf3x6t4m/confirm', ' '],
  [
    'a deposit',
    'POST',
    `${player}/deposits`,
    '{"amount":"150.00","currency":"BRL","method":"pix","externalReference":"pay-1001"}',
  ],
  ['a slash escaped in the body', 'POST', `${player}/withdrawals`, '{"destination":"agency\\/account"}'],
  ['another secret', 'GET', '/api/v1/me', '', { secret: 'sk_another_secret' }],
  ['a secret with symbols is used as its bytes', 'GET', '/api/v1/me', '', { secret: 'sk_ab+/=é' }],
  ['another timestamp', 'GET', '/api/v1/me', '', { timestamp: '1767225601' }],
]

type WebhookCase = readonly [name: string, body: string, overrides?: { secret?: string; timestamp?: string }]

const webhookCases: readonly WebhookCase[] = [
  ['a compact body', '{"id":"evt_1","type":"webhook.test"}'],
  ['spaces in the body count', '{"id": "evt_1", "type": "webhook.test"}'],
  ['Unicode in the body', '{"id":"evt_2","data":{"name":"João 🎲"}}'],
  ['JSON escapes are not resolved', '{"id":"evt_2","data":{"name":"Jo\\u00e3o"}}'],
  ['CRLF in the body', '{"id":"evt_3"}\r\n'],
  ['a dot in the body', '1.2.3'],
  ['an empty body', ''],
  ['another secret', '{"id":"evt_4"}', { secret: 'whsec_another_secret' }],
  ['another timestamp', '{"id":"evt_4"}', { timestamp: '1767225601' }],
  [exampleDelivery.name, exampleDelivery.body, exampleDelivery],
  ...publicEventKinds.map((kind): WebhookCase => [`an example of ${kind}`, JSON.stringify(exampleEvent(kind))]),
]

type AgeCase = readonly [
  name: string,
  ageSeconds: number,
  accepted: boolean,
  overrides?: { toleranceSeconds?: number; timestamp?: string },
]

const ageCases: readonly AgeCase[] = [
  ['received at once', 0, true],
  ['as old as is accepted', timestampToleranceSeconds, true],
  ['too old by a second', timestampToleranceSeconds + 1, false],
  ['too old by a day', 86_400, false],
  ['a clock that is as far ahead as is accepted', -timestampToleranceSeconds, true],
  ['too new by a second', -timestampToleranceSeconds - 1, false],
  ['as old as a tolerance of one minute accepts', 60, true, { toleranceSeconds: 60 }],
  ['too old for a tolerance of one minute', 61, false, { toleranceSeconds: 60 }],
  ['a timestamp with a fraction', 0, false, { timestamp: `${timestamp}.0` }],
  ['a timestamp with a sign', 0, false, { timestamp: `+${timestamp}` }],
  ['a timestamp with a space', 0, false, { timestamp: ` ${timestamp}` }],
  ['a timestamp that is no number', 0, false, { timestamp: 'soon' }],
  ['an empty timestamp', 0, false, { timestamp: '' }],
]

const brand = `${providerApiPrefix}/${sample.brandId}`
const providerCases: readonly RequestCase[] = [
  ['GET without query or body', 'GET', `${brand}/sessions/${sample.sessionId}`, ''],
  ['GET with a query', 'GET', `${brand}/rounds?roundId=round-501`, ''],
  ['query order is kept: day first', 'GET', `${brand}/rounds?day=2026-03-02&cursor=abc`, ''],
  ['query order is kept: cursor first', 'GET', `${brand}/rounds?cursor=abc&day=2026-03-02`, ''],
  ['a percent-encoded id in the path is signed as sent', 'GET', `${brand}/transactions/bet/bet%2F7001`, ''],
  ['lowercase percent-encoding is not normalised', 'GET', `${brand}/transactions/bet/bet%2f7001`, ''],
  ['another brand', 'GET', `${providerApiPrefix}/brd_2/rounds?roundId=round-501`, ''],
  ['a bet', 'POST', `${brand}/bets`, exampleBody(operations.players.placeBet)],
  ['the same bet with whitespace', 'POST', `${brand}/bets`, exampleBody(operations.players.placeBet, 2)],
  ['a spin', 'POST', `${brand}/spins`, exampleBody(operations.players.playSpin)],
  ['a win', 'POST', `${brand}/wins`, exampleBody(operations.wallet.creditWin)],
  ['a rollback', 'POST', `${brand}/rollbacks`, exampleBody(operations.wallet.rollbackBet)],
  ['a close', 'POST', `${brand}/rounds/close`, exampleBody(operations.wallet.closeRound)],
  ['CRLF line ends in the body', 'POST', `${brand}/bets`, '{\r\n  "transactionId": "bet-7001"\r\n}\r\n'],
  ['Portuguese letters in the body', 'POST', `${brand}/rollbacks`, '{"reason":"sessão interrompida"}'],
  ['an emoji in the body', 'POST', `${brand}/rollbacks`, '{"reason":"🎲"}'],
  ['an empty JSON object', 'POST', `${brand}/bets`, '{}'],
  ['another secret', 'GET', `${brand}/rounds?roundId=round-501`, '', { secret: 'another_secret' }],
  ['a secret with symbols is used as its bytes', 'GET', `${brand}/rounds?day=2026-03-02`, '', { secret: 'ab+/=é' }],
  ['another timestamp: a retry is signed anew', 'POST', `${brand}/bets`, '{}', { timestamp: '1767225601' }],
]

function exampleBody({ example }: Operation, spaces = 0): string {
  return JSON.stringify(example?.body, null, spaces)
}

const providerSecret = 'provider_test_vector_secret_1'

const requestVectors = (cases: readonly RequestCase[], ownSecret: string) =>
  cases.map(([name, method, path, body, overrides]) => {
    const request = { method, path, timestamp: overrides?.timestamp ?? timestamp, body }
    const secret = overrides?.secret ?? ownSecret
    return {
      name,
      secret,
      ...request,
      bodySha256: bodySha256(body),
      canonical: canonicalString(request),
      signature: signRequest(secret, request),
    }
  })

/** What a provider's signer is held to: the same canonical string, with its own paths. */
export const providerTestVectors = () => ({ requests: requestVectors(providerCases, providerSecret) })

/** Inputs and expected signatures: what any signer, ours included, is held to. */
export function testVectors() {
  return {
    documentLinks: documentLinks(),
    // A body is text; it is signed, and sent, as its UTF-8 bytes.
    requests: requestVectors(requestCases, operatorSecret),
    webhooks: webhookCases.map(([name, body, overrides]) => {
      const secret = overrides?.secret ?? webhookSecret
      const delivery = { timestamp: overrides?.timestamp ?? timestamp, body }
      return { name, secret, ...delivery, signature: signWebhook(secret, delivery) }
    }),
    // Deliveries with a right signature that are received early, in time or late by the receiver's clock, in seconds.
    webhookAges: ageCases.map(([name, ageSeconds, accepted, overrides]) => {
      const delivery = { timestamp: overrides?.timestamp ?? timestamp, body: '{"id":"evt_5"}' }
      return {
        ...{ name, secret: webhookSecret, ...delivery, signature: signWebhook(webhookSecret, delivery) },
        receivedAt: Number(timestamp) + ageSeconds,
        toleranceSeconds: overrides?.toleranceSeconds ?? timestampToleranceSeconds,
        accepted,
      }
    }),
  }
}

/**
 * Links to KYC documents, as our reviewers open them: those of the document, which shows them whole. `madeAt` is in
 * seconds, `target` path and query as they are sent.
 */
function documentLinks() {
  const document = readFileSync(new URL('../../../docs/kyc-documents.md', import.meta.url), 'utf8')
  const [, key = '', seconds] = /The key is `(\S+)`.* \((\d+)\)/.exec(document) ?? []
  return [...document.matchAll(/^(https:\S+)\n(.+)\n(\/\S+)$/gm)].map(
    ([, template = '', reference = '', target = '']) => ({ key, madeAt: Number(seconds), template, reference, target }),
  )
}
