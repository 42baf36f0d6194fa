import { randomBytes } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { loadConfig } from '@backoffice/process'
import { startService } from '@backoffice/service-runtime/testing'
import { eventually } from '@backoffice/test-kit'
import t from 'tap'
import { webhooks } from '../../src/service.ts'
import { webhooksBed } from '../bed.ts'
import { startReceiver, verifies } from '../receiver.ts'

const key = (id: string) => `${id}:${randomBytes(32).toString('base64')}`
const oldKey = key('2025')
const newKey = key('2026')

const startWith = (environment: Record<string, string>) =>
  startService(webhooks, loadConfig(webhooks.configuration, environment) as never)

t.test('after a new master key was put first, rewrapping needs the old one no longer', async (t) => {
  const { bed, operator, emit } = await webhooksBed(t, { MASTER_KEYS: oldKey })
  const receiver = await startReceiver(t)
  const { scope, secret } = await operator(receiver.url)
  await bed.services.webhooks.drain()

  const withKeys = (keys: string) => startWith({ ...bed.environment('webhooks'), MASTER_KEYS: keys })
  const both = await withKeys(`${newKey},${oldKey}`)
  const alice = bed.team('alice')
  t.same(await alice.call(operations.webhooks.rewrapWebhookSecrets, { input: {} }), { rewrapped: 1 })
  await both.drain()

  const service = await withKeys(newKey)
  t.teardown(() => service.drain())
  await emit(scope)
  await eventually(() => receiver.received.length === 1)
  t.ok(receiver.received.every((delivery) => verifies(delivery, secret)))
})

t.test('outside development it does not start without a master key', async (t) => {
  const environment = { DATABASE_URL: 'postgres://unused', NATS_URL: 'nats://unused' }
  await t.rejects(startWith(environment), /MASTER_KEYS is required/)
})
