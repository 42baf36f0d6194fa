// proof: a hundred forgeries of each kind, each a record of its own.

import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import t from 'tap'
import { add, as } from './brand.ts'
import { forgeCall } from './forge-call.ts'
import { allAreNamed, type RightCall } from './seeded.ts'

const { gateway, players, webhooks } = operations
const reason = 'asked for'
const environment = 'production'

type Entry = Awaited<ReturnType<typeof forgeCall>>

interface OfOperator extends RightCall {
  readonly operatorId: string
  readonly name: string
  readonly brandId: string
}

/** An operator as the gateway makes one that somebody has asked for. */
async function operator(): Promise<Pick<OfOperator, 'operatorId' | 'name' | 'brandId'>> {
  const [operatorId, brandId, name] = [newId('op'), newId('brd'), randomUUID()]
  const input = { name, allowedAddresses: ['192.0.2.1/24'], reason }
  const changes = JSON.stringify([{ field: 'operatorId', before: null, after: operatorId }])
  await forgeCall({ operation: gateway.createOperator, by: 'alice', input, row: { changes } })
  await add('gateway', 'operator', {
    ...{ id: operatorId, name, rate_limit_per_minute: 600, created_at: new Date(), replay_protection: false },
    allowed_addresses: '{192.0.2.0/24}',
  })
  await add('gateway', 'brand', {
    ...{ id: brandId, operator_id: operatorId, environment, name, currency: 'BRL', time_zone: 'UTC' },
  })
  return { operatorId, name, brandId }
}
const other = await operator()
const two = ['alice', 'bob'] as const
const signedBy = { by: 'bob', notBy: 'finance' } as const

const kind = { checks: ['signatures'], isOfTwo: true, isFoundByTime: true } as const

async function issue({ brandId }: OfOperator, call?: Entry, key = randomUUID()): Promise<string> {
  const id = newId('crd')
  const sealed = { sealed_secret: 'sealed', created_at: call?.at ?? new Date() }
  await add('gateway', 'credential', { id, brand_id: brandId, key, ...sealed })
  return id
}

t.test('keys that nobody has signed as they are', async (t) => {
  const prepare = async () => {
    const of = await operator()
    const key = randomUUID()
    const input = { operatorId: of.operatorId, environment, reason }
    const others = { operatorId: other.operatorId, environment: 'sandbox' }
    const row = { changes: JSON.stringify([{ field: 'key', before: null, after: key }]) }
    return { ...of, ...signedBy, operation: gateway.issueCredential, two, input, others, key, row }
  }
  type Key = Awaited<ReturnType<typeof prepare>>
  const honest = await prepare()
  const kept = await issue(honest, await forgeCall(honest), honest.key)
  const more = {
    'there is no call': (right: Key) => issue(right),
    'one call has issued two keys': async (right: Key) => {
      const call = await forgeCall(right)
      await issue(right, call, right.key)
      return issue(right, call)
    },
    'the key was revoked by nobody': async (right: Key) => {
      const id = await issue(right, await forgeCall(right), right.key)
      await as('gateway', 'update credential set revoked_at = now() where id = $1', [id])
      return id
    },
  }
  const effect = (right: Key, call: Entry) => issue(right, call, right.key)
  await allAreNamed<Key>(t, { ...kind, prepare, effect, more }, [kept])
})

t.test('addresses, replay protection and suspension that nobody has signed as they are', async (t) => {
  const prepare = async (number: number): Promise<OfOperator> => {
    const of = await operator()
    const { operatorId } = of
    const operatorIds = { operatorId: other.operatorId }
    if (number % 2 === 0) {
      const input = { operatorId, allowedAddresses: ['0.0.0.0/1'], reason }
      const others = { ...operatorIds, allowedAddresses: ['192.0.2.7'] }
      return { ...of, ...signedBy, operation: gateway.setOperatorLimits, two, input, others }
    }
    await forgeCall({
      operation: gateway.setReplayProtection,
      ...signedBy,
      input: { operatorId, replayProtection: 'on', reason },
    })
    const input = { operatorId, replayProtection: 'off', reason }
    const others = { ...operatorIds, replayProtection: 'on' }
    return { ...of, ...signedBy, operation: gateway.setReplayProtection, two, input, others }
  }
  const effect = async ({ operation, operatorId }: OfOperator): Promise<string> => {
    if (operation.id === gateway.setOperatorLimits.id)
      await as('gateway', `update operator set allowed_addresses = '{0.0.0.0/1}' where id = $1`, [operatorId])
    return operatorId
  }
  const says =
    (change: string) =>
    async ({ operatorId }: OfOperator) => {
      await as('gateway', `update operator set ${change} where id = $1`, [operatorId])
      return operatorId
    }
  const more = {
    'any address is permitted': says(`allowed_addresses = '{}'`),
    'the limit is another one': says('rate_limit_per_minute = 1000000'),
    'it is suspended': says('suspended_at = now()'),
    'nobody has created it': async () => {
      const id = newId('op')
      await add('gateway', 'operator', {
        ...{ id, name: id, rate_limit_per_minute: 600, created_at: new Date(), allowed_addresses: '{}' },
      })
      return id
    },
  }
  const [narrowed, protectedOne] = [await operator(), await operator()]
  const { operatorId } = narrowed
  await forgeCall({
    operation: gateway.setOperatorLimits,
    ...signedBy,
    input: { operatorId, allowedAddresses: ['192.0.2.9'] },
  })
  await as('gateway', `update operator set allowed_addresses = '{192.0.2.9}' where id = $1`, [operatorId])
  const input = { operatorId: protectedOne.operatorId, replayProtection: 'on' }
  await forgeCall({ operation: gateway.setReplayProtection, ...signedBy, input })
  await as('gateway', 'update operator set replay_protection = true where id = $1', [protectedOne.operatorId])
  await allAreNamed<OfOperator>(t, { ...kind, prepare, effect, more }, [operatorId, protectedOne.operatorId])
})

for (const { what, operation, field, row } of [
  {
    ...{ what: 'webhook addresses', operation: webhooks.setWebhookUrl, field: 'url' },
    row: (operatorId: string, url: string) =>
      add('webhooks', 'endpoint', {
        ...{ id: `${operatorId}/${environment}`, operator_id: operatorId, environment, url },
        ...{ created_at: new Date(), updated_at: new Date() },
      }),
  },
  {
    ...{ what: 'addresses of documents', operation: players.setDocumentUrl, field: 'template' },
    row: (operator_id: string, template: string) =>
      add('players', 'document_source', {
        operator_id,
        environment,
        template,
        sealed_key: 'x',
        key_created_at: new Date(),
      }),
  },
] as const)
  t.test(`${what} that nobody has signed as they are`, async (t) => {
    const url = 'https://operator.example/here'
    const prepare = async (): Promise<OfOperator> => {
      const of = { operatorId: newId('op'), name: '', brandId: '' }
      const input = { operatorId: of.operatorId, environment, [field]: url, reason }
      const others = { operatorId: other.operatorId, environment: 'sandbox', [field]: 'https://operator.example/there' }
      return { ...of, ...signedBy, operation, two, input, others }
    }
    const effect = async ({ operatorId }: OfOperator): Promise<string> => {
      await row(operatorId, url)
      return `${operatorId}/${environment}`
    }
    const honest = await prepare()
    await forgeCall(honest)
    await allAreNamed<OfOperator>(t, { ...kind, prepare, effect, more: { 'there is no call': effect } }, [
      await effect(honest),
    ])
  })
