import { operations } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { refusal, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import { webhooks } from '@backoffice/webhooks'
import t from 'tap'
import { gateway } from '../../src/service.ts'
import { send } from '../signed-client.ts'

const MASTER_KEYS = `first:${Buffer.alloc(32, 1).toString('base64')}`
const { createOperator, getOperator, issueCredential, listAudit } = operations.gateway

t.test('one person makes no key of production: the pair is issued later, by two', async (t) => {
  const services = { gateway, players, wallet, payments, webhooks }
  const bed = await testBed(t, services, { config: { gateway: { DEVELOPMENT: false, MASTER_KEYS } } })
  const alice = bed.team('alice')
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
  const { baseUrl } = bed.services.gateway.addresses
  t.equal((await send(baseUrl, pair, { path: '/me' })).json.operator.environment, 'production')
  // The webhook secret of production was shown to nobody, so no former one has to go on signing.
  const secret = await bed.agreed(operations.webhooks.rotateWebhookSecret, { input: { ...input, overlapHours: 0 } })
  t.match(secret, { webhookSecret: /^whsec_/ })
})
