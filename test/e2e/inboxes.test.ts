import { allOperations, inboxOf, isReplySealed, operations, teamConsole } from '@backoffice/contracts'
import { RpcClient } from '@backoffice/rpc'
import { newReplyKey } from '@backoffice/team-identity'
import { OperatorClient, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { expectStatus, playerRequest } from '../journey.ts'
import { services } from '../services.ts'

// Replies go to an inbox that every connection of the caller's user may hear: so does whoever has its password.

const bed = await testBed(t, services)
const alice = bed.team('alice')

/** All that a second connection of a program hears of the replies to it. */
async function heardBy(user: 'console' | 'gateway'): Promise<{ text(): Promise<string> }> {
  const connection = await bed.nats(user)
  const heard: string[] = []
  connection.subscribe(`${inboxOf(user)}.>`, { callback: (_error, message) => void heard.push(message.string()) })
  await connection.flush()
  return {
    async text() {
      await connection.flush()
      return heard.join('\n')
    },
  }
}

t.test('who hears the replies to the team or to the gateway finds no secret and nobody unmasked', async (t) => {
  const [console, gateway] = await Promise.all([heardBy(teamConsole), heardBy('gateway')])
  const name = 'Casa Azul'
  const reason = 'agreed'
  const made = await alice.call(operations.gateway.createOperator, { input: { name, reason } })
  const owner = { operatorId: made.operatorId, environment: 'sandbox', reason } as const
  const issued = await alice.call(operations.gateway.issueCredential, { input: owner })
  const rotation = { input: owner, operationId: 'opn_rotation' }
  const rotated = await alice.call(operations.webhooks.rotateWebhookSecret, rotation)
  const template = 'https://documents.example.com/{reference}'
  const documents = await alice.call(operations.players.setDocumentUrl, { input: { ...owner, template } })
  const secrets = [
    made.sandbox.secret,
    made.sandbox.webhookSecret,
    issued.secret,
    rotated.webhookSecret,
    documents.secret,
  ]
  for (const secret of secrets) t.match(secret, /^.{20,}$/, 'the person reads it')
  const again = await alice.call(operations.webhooks.rotateWebhookSecret, rotation)
  t.equal(again.webhookSecret, null, 'the stored reply is sealed to the key of whoever asks again')

  const client = new OperatorClient(bed.services.gateway.addresses.baseUrl, {
    key: made.sandbox.key,
    secret: made.sandbox.secret ?? '',
  })
  t.teardown(() => client.close())
  const { id: playerId } = expectStatus(await client.post('/players', playerRequest()), 201)
  const asked = { playerId, reason: 'the player asks' }
  const { cpf } = await alice.call(operations.players.showPlayer, { input: { ...asked, unmask: true } })
  t.match(cpf, /^\d{11}$/)
  const exported = await alice.call(operations.players.exportPlayer, { input: asked })
  t.match(JSON.stringify(exported), cpf)

  const toTeam = await console.text()
  t.equal(toTeam.match(/"sealed":/g)?.length, 7)
  t.match(await gateway.text(), /"sealed":/, 'the webhook secret of a new operator')
  for (const [index, secret] of [...secrets, cpf].entries()) t.notMatch(toTeam, String(secret), `${index}`)
  for (const secret of secrets) t.notMatch(await gateway.text(), String(secret))
})

t.test('a reply that must be sealed is made for nobody who does not say to which key', async (t) => {
  const sign = bed.issuer.signer('alice')
  const rpc = new RpcClient(await bed.nats(teamConsole), sign)
  const own = await newReplyKey()
  const offTheCurve = { kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43) } as const
  for (const sealTo of [undefined, offTheCurve]) {
    const input = { name: 'Casa Nova', reason: 'agreed' }
    const call = rpc.request(operations.gateway.createOperator, {
      input,
      ...(sealTo === undefined ? {} : { replyKey: { ...own, sealTo } }),
    })
    await t.rejects(call, { code: 'VALIDATION_ERROR', details: { in: 'headers', issues: [{ path: 'sealTo' }] } })
  }
  const none = alice.call(operations.gateway.getOperator, { input: { name: 'Casa Nova' } })
  await t.rejects(none, { code: 'OPERATOR_NOT_FOUND' })
})

t.test('sealed are the replies with what is shown once or masked otherwise, and no others', (t) => {
  const named = allOperations.filter((operation) => isReplySealed(operation, {}))
  t.same(named.map(({ service, id }) => `${service}.${id}`).sort(), [
    'gateway.createOperator',
    'gateway.issueCredential',
    'payments.exportPlayer',
    'players.exportPlayer',
    'players.setDocumentUrl',
    'wallet.exportPlayer',
    'webhooks.provisionWebhook',
    'webhooks.rotateWebhookSecret',
  ])
  const mayUnmask = allOperations.filter(({ body }) => 'unmask' in body.properties)
  t.same(
    mayUnmask.filter((operation) => !isReplySealed(operation, { unmask: true })),
    [],
  )
  t.end()
})
