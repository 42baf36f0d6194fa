import { operations } from '@backoffice/contracts'
import { reconcile, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { services } from '../services.ts'

const bed = await testBed(t, services)
const { gateway, webhooks, players } = operations
const environment = 'production'
const reason = 'asked for'

t.test('what people of the team have set is not named, and what a service sets by itself is', async (t) => {
  const alice = bed.team('alice')
  const created = { name: 'Aurora', allowedAddresses: ['192.0.2.1/24'], rateLimitPerMinute: 100 }
  const { operatorId } = await alice.call(gateway.createOperator, { input: created })
  await alice.call(gateway.createOperator, { input: { name: 'Boreal' } })
  const { key } = await bed.agreed(gateway.issueCredential, { input: { operatorId, environment, reason } })
  await bed.agreed(gateway.issueCredential, { input: { operatorId, environment, reason: 'the next one' } })
  await alice.call(gateway.revokeCredential, { input: { key } })
  await alice.call(gateway.revokeCredential, { input: { key } })
  const allowedAddresses = ['192.0.2.1/24', '198.51.100.7']
  await bed.agreed(gateway.setOperatorLimits, { input: { operatorId, allowedAddresses } })
  await alice.call(gateway.setOperatorLimits, { input: { operatorId, rateLimitPerMinute: 77 } })
  await alice.call(gateway.setReplayProtection, { input: { operatorId, replayProtection: 'on' } })
  await bed.agreed(gateway.setReplayProtection, { input: { operatorId, replayProtection: 'off' } })
  await alice.call(gateway.suspendOperator, { input: { operatorId } })
  await alice.call(gateway.activateOperator, { input: { operatorId } })
  const url = 'https://operator.example/hook'
  await bed.agreed(webhooks.setWebhookUrl, { input: { operatorId, environment, url } })
  await alice.call(webhooks.setWebhookUrl, { input: { operatorId, environment: 'sandbox', url } })
  const template = 'https://operator.example/{reference}'
  for (const opens of [template, null])
    await bed.agreed(players.setDocumentUrl, { input: { operatorId, environment, template: opens, reason } })
  t.same((await reconcile(alice)).differences, [])

  await bed.sql('gateway').query(`update operator set allowed_addresses = '{}' where id = $1`, [operatorId])
  await bed.sql('webhooks').query(`update endpoint set url = 'https://evil.example' where url = $1`, [url])
  await bed.sql('players').query('update document_source set template = $1', [template])
  const of = `${operatorId}/${environment}`
  const addresses = `${operatorId} allowedAddresses`
  const { differences } = await reconcile(alice)
  t.same(differences.map(({ subject }) => subject).sort(), [addresses, `${of} template`, `${of} url`])
  t.match(differences[0], { actual: '[]', expected: '["192.0.2.0/24","198.51.100.7"]' })
})
