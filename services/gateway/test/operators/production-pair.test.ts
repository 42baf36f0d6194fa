import { operations } from '@backoffice/contracts'
import { loadConfig } from '@backoffice/process'
import { startService } from '@backoffice/service-runtime/testing'
import { refusal } from '@backoffice/test-kit'
import t from 'tap'
import { gateway } from '../../src/service.ts'
import { gatewayBed } from '../bed.ts'
import { type Pair, send } from '../signed-client.ts'

const { createOperator, getOperator, issueCredential, listAudit, rewrapSecrets } = operations.gateway
const keyOf = (id: string) => `${id}:${Buffer.alloc(32, id).toString('base64')}`
const bed = await gatewayBed(t, { DEVELOPMENT: false, MASTER_KEYS: keyOf('first') })
const alice = bed.team('alice')
const pairs: Pair[] = []

t.test('one person makes no key of production: the pair is issued later, by two', async (t) => {
  const created = await alice.call(createOperator, { input: { name: 'Casa Azul' } })
  t.match(created.sandbox, { key: /^bk_test_/, secret: /^sk_/, webhookSecret: /^whsec_/ })
  t.equal(created.production, null)
  const { brands, credentials } = await alice.call(getOperator, { input: { name: 'Casa Azul' } })
  t.same(brands.map(({ environment }) => environment).sort(), ['production', 'sandbox'])
  t.same(
    credentials.map(({ environment }) => environment),
    ['sandbox'],
  )
  const { data } = await alice.call(listAudit, { input: { limit: 1 } })
  t.same(
    data[0]?.changes?.map(({ field }) => field),
    ['operatorId', 'sandboxKey'],
  )

  const { operatorId } = created
  const input = { operatorId, environment: 'production', reason: 'homologated' } as const
  t.equal(await refusal(alice.call(issueCredential, { input })), 'AWAITS_APPROVAL')
  const pair = await bed.agreed(issueCredential, { input })
  t.match(pair, { key: /^bk_live_/, secret: /^sk_/ })
  pairs.push(created.sandbox, pair)
  const { baseUrl } = bed.services.gateway.addresses
  t.equal((await send(baseUrl, pair, { path: '/me' })).json.operator.environment, 'production')
  // The webhook secret of production was shown to nobody, so no former one has to go on signing.
  const secret = await bed.agreed(operations.webhooks.rotateWebhookSecret, { input: { ...input, overlapHours: 0 } })
  t.match(secret, { webhookSecret: /^whsec_/ })
})

/** One replica in place of all others. */
async function restartWith(masterKeys: string, before: { drain(): Promise<void> }) {
  await before.drain()
  const environment = { ...bed.environment('gateway'), MASTER_KEYS: masterKeys }
  const running = await startService(gateway, loadConfig(gateway.configuration, environment) as never)
  t.teardown(() => running.drain())
  return running
}

t.test('after a rewrap the former master key is needed no longer, and every secret still signs', async (t) => {
  const both = await restartWith(`${keyOf('second')},${keyOf('first')}`, bed.services.gateway)
  const rewrap = () => alice.call(rewrapSecrets, { input: {} })
  t.same(await rewrap(), { rewrapped: 2, keyId: 'second' })
  t.same(await rewrap(), { rewrapped: 0, keyId: 'second' }, 'what is under the newest key is left alone')
  const { addresses } = await restartWith(keyOf('second'), both)
  for (const pair of pairs) t.equal((await send(addresses.baseUrl, pair, { path: '/me' })).status, 200)
})
