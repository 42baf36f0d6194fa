import { operations } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { loadConfig } from '@backoffice/process'
import { startService } from '@backoffice/service-runtime/testing'
import { testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import { webhooks } from '@backoffice/webhooks'
import t from 'tap'
import { gateway } from '../../src/service.ts'
import { send } from '../signed-client.ts'

const keyOf = (id: string) => `${id}:${Buffer.alloc(32, id).toString('base64')}`
const bed = await testBed(
  t,
  { gateway, players, wallet, payments, webhooks },
  { config: { gateway: { MASTER_KEYS: keyOf('first') } } },
)
const alice = bed.team('alice')

/** One replica in place of all others. */
async function restartWith(masterKeys: string, before: { drain(): Promise<void> }) {
  await before.drain()
  const environment = { ...bed.environment('gateway'), MASTER_KEYS: masterKeys }
  const running = await startService(gateway, loadConfig(gateway.configuration, environment) as never)
  t.teardown(() => running.drain())
  return running
}

t.test('after a rewrap the former master key is needed no longer, and every secret still signs', async (t) => {
  const { sandbox, production } = await alice.call(operations.gateway.createOperator, { input: { name: 'Rewrapped' } })
  const both = await restartWith(`${keyOf('second')},${keyOf('first')}`, bed.services.gateway)
  const rewrap = () => alice.call(operations.gateway.rewrapSecrets, { input: {} })
  t.same(await rewrap(), { rewrapped: 2, keyId: 'second' })
  t.same(await rewrap(), { rewrapped: 0, keyId: 'second' }, 'what is under the newest key is left alone')
  const { addresses } = await restartWith(keyOf('second'), both)
  for (const pair of [sandbox, production]) t.equal((await send(addresses.baseUrl, pair, { path: '/me' })).status, 200)
})
