import { operations } from '@backoffice/contracts'
import { byTwo, proposalOf, refusal } from '@backoffice/test-kit'
import t from 'tap'
import { gatewayBed } from '../bed.ts'

const bed = await gatewayBed(t)
const alice = bed.team('alice')
const {
  activateProvider,
  createOperator,
  createProvider,
  getOperator,
  getProvider,
  issueProviderKey,
  listAudit,
  listProviders,
  revokeProviderKey,
  rewrapSecrets,
  setProviderGrant,
  setProviderLimits,
  suspendProvider,
} = operations.gateway

const made = (name: string) => alice.call(createProvider, { input: { name } })
const { operatorId } = await alice.call(createOperator, { input: { name: 'Acme' } })
const { brands } = await alice.call(getOperator, { input: { name: operatorId } })
const brandOf = (environment: string) => brands.find((brand) => brand.environment === environment)?.id ?? ''

t.test('a provider is found by name and by id, with what it was created with, and no key or brand', async (t) => {
  const input = { name: 'Found', stakesPerMinute: 5, othersPerMinute: 6, allowedAddresses: ['10.0.0.0/8'] }
  const created = await alice.call(createProvider, { input })
  t.match(created, { ...input, status: 'active' })
  t.match(created.id, /^prv_/)
  for (const name of ['Found', created.id])
    t.same(await alice.call(getProvider, { input: { name } }), { ...created, grants: [], keys: [] })
  t.match(await made('Usual'), { stakesPerMinute: 60_000, othersPerMinute: 120_000, allowedAddresses: [] })
  t.equal(await refusal(alice.call(getProvider, { input: { name: 'nobody' } })), 'PROVIDER_NOT_FOUND')
  const { data, nextCursor } = await alice.call(listProviders, { input: { after: 'Fo', limit: 1 } })
  t.same([data.map(({ name }) => name), nextCursor], [['Found'], 'Found'])
})

t.test('of providers with one name that are created at once exactly one comes to be', async (t) => {
  const outcomes = await Promise.all(Array.from({ length: 4 }, () => refusal(made('Twin'))))
  t.same(outcomes.sort(), [...Array(3).fill('PROVIDER_ALREADY_EXISTS'), null])
})

t.test('in production one proposes a grant or a key, and another carries it out; one person stops it', async (t) => {
  const { id: providerId } = await made('Two')
  const grant = { providerId, brandId: brandOf('production'), grant: 'active' } as const
  await byTwo(bed, setProviderGrant, grant)
  const { key, secret } = await byTwo(bed, issueProviderKey, { providerId, environment: 'production' })
  t.match(key, /^gp_live_[0-9a-f]{32}$/)
  t.match(secret, /^sk_[0-9a-f]{64}$/)
  await alice.call(setProviderGrant, { input: { ...grant, grant: 'suspended' } })
  const { grants } = await alice.call(getProvider, { input: { name: 'Two' } })
  t.match(grants, [{ brandId: grant.brandId, operatorName: 'Acme', environment: 'production', status: 'suspended' }])
  await proposalOf(alice.call(setProviderGrant, { input: grant }))
  const { revokedAt } = await alice.call(revokeProviderKey, { input: { key } })
  t.same(await alice.call(revokeProviderKey, { input: { key } }), { key, revokedAt }, 'once')
})

t.test('in the sandbox one person grants and issues; a secret is shown once', async (t) => {
  const { id: providerId } = await made('One')
  const grant = { providerId, brandId: brandOf('sandbox'), grant: 'active' } as const
  await alice.call(setProviderGrant, { input: grant })
  t.match((await alice.call(getProvider, { input: { name: 'One' } })).grants, [{ status: 'active' }])
  const call = { input: { providerId, environment: 'sandbox' }, operationId: 'opn_key_of_one' } as const
  const { key, secret } = await alice.call(issueProviderKey, call)
  t.match(key, /^gp_test_/)
  t.type(secret, 'string')
  t.match(await alice.call(issueProviderKey, call), { key, secret: null })
  const { keys } = await alice.call(getProvider, { input: { name: 'One' } })
  t.match(keys, [{ key, environment: 'sandbox', revokedAt: null, lastUsedAt: null }])
  t.match(await alice.call(getProvider, { input: { name: key } }), { id: providerId, keys }, 'found by its key')
  for (const name of ['gp_test_nobody', key.replace('gp_', 'bk_')])
    t.equal(await refusal(alice.call(getProvider, { input: { name } })), 'PROVIDER_NOT_FOUND', name)
  const unknown = { ...grant, brandId: 'brd_nobody' }
  t.equal(await refusal(alice.call(setProviderGrant, { input: unknown })), 'OPERATOR_NOT_FOUND')
})

t.test('limits change alone, but who may call with the keys of a provider takes two', async (t) => {
  const input = { name: 'Limited', allowedAddresses: ['10.0.0.0/8'] }
  const { id: providerId } = await alice.call(createProvider, { input })
  const set = (limits: object) => alice.call(setProviderLimits, { input: { providerId, ...limits } })
  t.match(await set({ stakesPerMinute: 7 }), { stakesPerMinute: 7, othersPerMinute: 120_000 })
  t.match(await set({ allowedAddresses: ['10.1.0.0/16'] }), { allowedAddresses: ['10.1.0.0/16'] })
  await proposalOf(set({ allowedAddresses: ['10.0.0.0/8'] }))
  await proposalOf(set({ allowedAddresses: [] }))
  t.equal(await refusal(set({ allowedAddresses: ['10.0.0.0/99'] })), 'VALIDATION_ERROR')
  const seen = { name: 'Limited', stakesPerMinute: 60_000, othersPerMinute: 120_000, allowedAddresses: [] }
  t.equal(await refusal(set({ stakesPerMinute: 9, seen })), 'NOT_AS_SEEN')
})

t.test('the trail says what became of a provider', async (t) => {
  const { id: providerId } = await made('Trail')
  const { key } = await alice.call(issueProviderKey, { input: { providerId, environment: 'sandbox' } })
  const brandId = brandOf('sandbox')
  await alice.call(setProviderGrant, { input: { providerId, brandId, grant: 'active' } })
  const suspended = await alice.call(suspendProvider, { input: { providerId } })
  t.equal(suspended.status, 'suspended')
  t.equal((await alice.call(activateProvider, { input: { providerId } })).status, 'active')
  await alice.call(revokeProviderKey, { input: { key } })
  const { data } = await alice.call(listAudit, { input: { limit: 6 } })
  t.match(
    data.map(({ operation, changes }) => [operation, changes?.map(({ field, after }) => `${field} ${after}`)]),
    [
      ['revokeProviderKey', [/^revokedAt 2/]],
      ['activateProvider', ['suspendedAt null']],
      ['suspendProvider', [/^suspendedAt 2/]],
      ['setProviderGrant', ['grant active']],
      ['issueProviderKey', [`key ${key}`]],
      ['createProvider', [`providerId ${providerId}`]],
    ],
  )
})

t.test('providers, keys and grants stay who they are, and secrets are sealed anew with the others', async (t) => {
  const db = bed.sql('gateway')
  for (const [table, change] of [
    ['provider', 'created_at = now()'],
    ['provider_key', "environment = 'production'"],
    ['provider_key', "key = 'gp_test_x'"],
    ['provider_brand', 'granted_at = now()'],
  ])
    await t.rejects(db.query(`update ${table} set ${change}`), { message: /^kept as it was written/ })
  for (const table of ['provider', 'provider_key', 'provider_brand']) await t.rejects(db.query(`delete from ${table}`))
  const { rows } = await db.query("select count(*)::int from provider_key where sealed_secret ~ 'sk_[0-9a-f]{64}'")
  t.equal(rows[0].count, 0)
  t.equal((await alice.call(rewrapSecrets, { input: {} })).rewrapped, 0, 'all are under the newest key')
})
