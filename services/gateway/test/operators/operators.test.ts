import { operations } from '@backoffice/contracts'
import { proposalOf, refusal } from '@backoffice/test-kit'
import t from 'tap'
import { activate, type OperatorTerms, suspend } from '../../src/operators/operator.ts'
import { gatewayBed } from '../bed.ts'
import { type Pair, send } from '../signed-client.ts'

const bed = await gatewayBed(t)
const admin = bed.sql('admin')
const alice = bed.team('alice')
const {
  createOperator,
  getOperator,
  listOperators,
  issueCredential,
  revokeCredential,
  setOperatorLimits,
  setReplayProtection,
  suspendOperator,
} = operations.gateway

t.test('of operators with one name that are created at once exactly one comes to be', async (t) => {
  const outcomes = await Promise.all(
    Array.from({ length: 6 }, () => refusal(alice.call(createOperator, { input: { name: 'Twin' } }))),
  )
  t.same(outcomes.sort(), [...Array(5).fill('OPERATOR_ALREADY_EXISTS'), null])
  const { data } = await alice.call(listOperators, { input: {} })
  t.equal(data.filter(({ name }) => name === 'Twin').length, 1)
})

t.test('an operator is found by name, id and each of its keys, with what it was created with', async (t) => {
  const input = { name: 'Found', rateLimitPerMinute: 5, allowedAddresses: ['10.0.0.0/8'] }
  const { operatorId, sandbox, production } = await alice.call(createOperator, { input })
  const record = await alice.call(getOperator, { input: { name: 'Found' } })
  t.match(record, { ...input, id: operatorId, status: 'active' })
  t.same(record.brands.map(({ environment, name }) => `${environment} ${name}`).sort(), [
    'production Found',
    'sandbox Found sandbox',
  ])
  t.same(record.credentials.map(({ key }) => key).sort(), [production?.key, sandbox.key].sort())
  for (const name of [operatorId, sandbox.key, production?.key ?? ''])
    t.same(await alice.call(getOperator, { input: { name } }), record)
  const unsaid = await alice.call(getOperator, { input: { name: 'Twin' } })
  t.equal(unsaid.rateLimitPerMinute, 600, 'unless somebody says otherwise')
  for (const name of ['nobody', 'op_nobody', 'bk_test_nobody', sandbox.key.replace('bk_', 'gp_')])
    t.equal(await refusal(alice.call(getOperator, { input: { name } })), 'OPERATOR_NOT_FOUND', name)
})

t.test(
  'an operator has the currency and time zone that it was created with, in both brands and every service',
  async (t) => {
    const brandsOf = async (name: string) => (await alice.call(getOperator, { input: { name } })).brands
    await alice.call(createOperator, { input: { name: 'Usual' } })
    for (const brand of await brandsOf('Usual')) t.match(brand, { currency: 'BRL', timeZone: 'America/Sao_Paulo' })
    const where = { currency: 'PEN', timeZone: 'America/Lima' }
    const { operatorId } = await alice.call(createOperator, { input: { name: 'Lima', ...where } })
    const brands = await brandsOf('Lima')
    t.equal(brands.length, 2)
    for (const { id, environment, currency, timeZone } of brands) {
      t.same({ currency, timeZone }, where)
      for (const service of ['players', 'wallet', 'payments', 'webhooks']) {
        const { rows } = await admin.query(`select * from ${service}.brand where id = $1`, [id])
        t.same(
          rows,
          [{ id, operator_id: operatorId, environment, currency: 'PEN', time_zone: 'America/Lima' }],
          service,
        )
      }
    }
    const change = "update brand set time_zone = 'UTC' where operator_id = $1"
    await t.rejects(bed.sql('gateway').query(change, [operatorId]), { message: /^kept as it was written/ })
    for (const wrong of [
      { currency: 'CLP' },
      { currency: 'brl' },
      { timeZone: '-03:00' },
      // The process takes any case, PostgreSQL lists it in one.
      { timeZone: 'america/lima' },
    ])
      t.equal(await refusal(alice.call(createOperator, { input: { name: 'Nowhere', ...wrong } })), 'VALIDATION_ERROR')
    t.equal(await refusal(brandsOf('Nowhere')), 'OPERATOR_NOT_FOUND')
  },
)

t.test(
  'while a service is away no operator is made, and nothing of it is met; then the same call makes it',
  async (t) => {
    await bed.services.wallet.drain()
    const options = { input: { name: 'Waits' }, operationId: 'opn_waits' }
    t.equal(await refusal(alice.call(createOperator, options)), 'SERVICE_UNAVAILABLE')
    t.equal(await refusal(alice.call(getOperator, { input: { name: 'Waits' } })), 'OPERATOR_NOT_FOUND')
    await bed.start('wallet')
    const { sandbox, production } = await alice.call(createOperator, options)
    for (const pair of [sandbox, production]) t.type(pair?.secret, 'string', 'and its secrets are shown')
  },
)

t.test('operators are listed by name, page by page', async (t) => {
  const names = ['page a', 'page b', 'page c']
  for (const name of names) await alice.call(createOperator, { input: { name } })
  const first = await alice.call(listOperators, { input: { after: 'page', limit: 2 } })
  t.same([first.data.map(({ name }) => name), first.nextCursor], [names.slice(0, 2), 'page b'])
  t.ok(first.data.every(({ brands, credentials }) => brands.length === 2 && credentials.length === 2))
  const second = await alice.call(listOperators, { input: { after: 'page b' } })
  t.same([second.data[0]?.name, second.nextCursor], ['page c', null])
})

t.test('the trail says which operator was made, which key was issued, and which is revoked', async (t) => {
  const { operatorId, sandbox, production } = await alice.call(createOperator, { input: { name: 'Trail' } })
  const { key } = await alice.call(issueCredential, { input: { operatorId, environment: 'sandbox' } })
  const { revokedAt } = await alice.call(revokeCredential, { input: { key } })
  await alice.call(revokeCredential, { input: { key } })
  const { data } = await alice.call(operations.gateway.listAudit, { input: { limit: 4 } })
  const made = (field: string, after: string) => ({ field, before: null, after })
  t.same(
    data.map(({ changes }) => changes),
    [
      null,
      [made('revokedAt', revokedAt)],
      [made('key', key)],
      [made('operatorId', operatorId), made('sandboxKey', sandbox.key), made('productionKey', production?.key ?? '')],
    ],
  )
})

t.test('of two keys that are revoked at once one stays', async (t) => {
  const { operatorId, sandbox } = await alice.call(createOperator, { input: { name: 'Last key' } })
  const second = await alice.call(issueCredential, { input: { operatorId, environment: 'sandbox' } })
  const outcomes = await Promise.all(
    [sandbox, second].map(({ key }) => refusal(alice.call(revokeCredential, { input: { key } }))),
  )
  t.same(outcomes.sort(), ['CREDENTIAL_LAST_ACTIVE', null])
})

t.test('ranges are shown back as they were understood, and one that is unclear is refused', async (t) => {
  const asGiven = [
    '10.1.2.3/8',
    '::ffff:11.1.2.3/104',
    '2001:DB8:0:0::1/32',
    '192.0.2.7/32',
    '2001:db8::7',
    '1.2.3.4/0',
  ]
  const understood = ['10.0.0.0/8', '11.0.0.0/8', '2001:db8::/32', '192.0.2.7', '2001:db8::7', '0.0.0.0/0']
  const created = await alice.call(createOperator, { input: { name: 'Ranges', allowedAddresses: asGiven } })
  t.strictSame(created.allowedAddresses, understood)
  const { operatorId } = created
  t.strictSame((await alice.call(getOperator, { input: { name: 'Ranges' } })).allowedAddresses, understood)
  const changed = await alice.call(setOperatorLimits, { input: { operatorId, allowedAddresses: ['10.9.8.7/24'] } })
  t.strictSame(changed.allowedAddresses, ['10.9.8.0/24'])
  for (const unclear of ['010.1.2.3', '1', '10.1'])
    await t.rejects(alice.call(setOperatorLimits, { input: { operatorId, allowedAddresses: [unclear] } }), {
      code: 'VALIDATION_ERROR',
      details: { in: 'body', issues: [{ path: '/allowedAddresses/0' }] },
    })
})

t.test('addresses are narrowed by one person and widened by two', async (t) => {
  const { operatorId } = await alice.call(createOperator, {
    input: { name: 'Wider', allowedAddresses: ['10.0.0.0/8'] },
  })
  const permit = (...allowedAddresses: readonly string[]) =>
    alice.call(setOperatorLimits, { input: { operatorId, allowedAddresses: [...allowedAddresses] } })
  const held = async () => (await alice.call(getOperator, { input: { name: 'Wider' } })).allowedAddresses
  for (const wider of [[], ['10.0.0.0/7'], ['10.0.0.0/8', '203.0.113.9'], ['::/0'], ['::ffff:0.0.0.0/96']])
    t.equal(await refusal(permit(...wider)), 'AWAITS_APPROVAL', wider.join(' ') || 'any address')
  t.strictSame(await held(), ['10.0.0.0/8'])
  await permit('10.1.2.3', '10.64.0.0/10')
  const input = { operatorId, allowedAddresses: [] }
  const { proposalId: approves } = await proposalOf(alice.call(setOperatorLimits, { input }))
  t.equal(await refusal(alice.call(setOperatorLimits, { input, approves })), 'TWO_PEOPLE_REQUIRED')
  t.strictSame((await bed.team('bob').call(setOperatorLimits, { input, approves })).allowedAddresses, [])
  await permit('192.0.2.0/24')
  t.strictSame(await held(), ['192.0.2.0/24'], 'from any address to some is narrower')
  await alice.call(setOperatorLimits, { input: { operatorId, rateLimitPerMinute: 7 } })
})

t.test('a change of other limits than were shown is refused with NOT_AS_SEEN and both', async (t) => {
  const name = 'Seen'
  const limits = { rateLimitPerMinute: 5, allowedAddresses: ['10.0.0.0/8', '192.0.2.7'] }
  const { operatorId } = await alice.call(createOperator, { input: { name, ...limits } })
  await alice.call(setOperatorLimits, { input: { operatorId, storedMebibytesPerDay: 100, storedRowsPerDay: 5_000 } })
  const held = { name, ...limits, storedMebibytesPerDay: 100, storedRowsPerDay: 5_000 }
  const addresses = [{ allowedAddresses: ['10.0.0.0/8'] }, { allowedAddresses: [] }]
  const quotas = [{ storedMebibytesPerDay: 99 }, { storedMebibytesPerDay: null }, { storedRowsPerDay: null }]
  for (const lie of [{ name: 'seen' }, { rateLimitPerMinute: 6 }, ...addresses, ...quotas]) {
    const seen = { ...held, ...lie }
    const refused = alice.call(setOperatorLimits, { input: { operatorId, rateLimitPerMinute: 9, seen } })
    await t.rejects(refused, { code: 'NOT_AS_SEEN', details: { operatorId, seen, held } })
  }
  t.match(await alice.call(getOperator, { input: { name: 'Seen' } }), held)
  const input = { operatorId, rateLimitPerMinute: 9, seen: held }
  t.match(await alice.call(setOperatorLimits, { input }), { ...held, rateLimitPerMinute: 9 })
})

t.test('what lets others call, and what stops an operator, takes a login of the last minutes', async (t) => {
  const { operatorId, sandbox } = await alice.call(createOperator, { input: { name: 'Fresh' } })
  const late = bed.team('alice', { loggedInSecondsAgo: 600 })
  const calls = [
    late.call(setOperatorLimits, { input: { operatorId, allowedAddresses: [] } }),
    late.call(setReplayProtection, { input: { operatorId, replayProtection: 'off' } }),
    late.call(suspendOperator, { input: { operatorId } }),
    late.call(revokeCredential, { input: { key: sandbox.key } }),
  ]
  t.same(
    await Promise.all(calls.map(refusal)),
    calls.map(() => 'FRESH_LOGIN_REQUIRED'),
  )
})

t.test('replay protection is off until the team turns it on, and that is recorded', async (t) => {
  const { operatorId } = await alice.call(createOperator, { input: { name: 'Replays' } })
  const shown = async () => (await alice.call(getOperator, { input: { name: 'Replays' } })).replayProtection
  t.equal(await shown(), 'off')
  const on = { operatorId, replayProtection: 'on', reason: 'asked for' } as const
  t.equal((await alice.call(setReplayProtection, { input: on })).replayProtection, 'on')
  const off = { ...on, replayProtection: 'off' } as const
  const { proposalId: approves } = await proposalOf(alice.call(setReplayProtection, { input: off }))
  t.equal(await shown(), 'on', 'one person takes no protection away')
  t.equal((await bed.team('bob').call(setReplayProtection, { input: off, approves })).replayProtection, 'off')
  t.equal(await shown(), 'off')
  const seen = { name: 'Unknown', replayProtection: 'off' } as const
  const unknown = { operatorId: 'op_unknown', replayProtection: 'on', seen } as const
  t.equal(await refusal(alice.call(setReplayProtection, { input: unknown })), 'OPERATOR_NOT_FOUND')
  const { rows } = await admin.query(
    "select outcome, reason, changes from gateway.audit_entry where operation = 'setReplayProtection' and subject = any($1) order by at",
    [[operatorId, 'op_unknown']],
  )
  const changed = (before: boolean, after: boolean) => [
    { field: 'replayProtection', before: String(before), after: String(after) },
  ]
  t.match(rows, [
    { outcome: 'done', reason: 'asked for', changes: changed(false, true) },
    { outcome: 'AWAITS_APPROVAL', reason: 'asked for', changes: null },
    { outcome: 'done', reason: 'asked for', changes: changed(true, false) },
    { outcome: 'OPERATOR_NOT_FOUND', reason: null, changes: null },
  ])
})

t.test('the secret of a key that two people issue is shown once, to who asked for it', async (t) => {
  const { operatorId } = await alice.call(createOperator, { input: { name: 'Asked' } })
  const input = { operatorId, environment: 'production', reason: 'rotation' } as const
  const asked = { input, operationId: 'opn_asked' }
  const { details } = await alice.call(issueCredential, asked).catch((error) => error)
  t.equal(await refusal(alice.call(issueCredential, asked)), 'AWAITS_APPROVAL', 'nobody has agreed')
  const bob = bed.team('bob')
  const agreed = { input, approves: String(details.proposalId), operationId: 'opn_agreed' }
  const { key, secret } = await bob.call(issueCredential, agreed)
  t.equal(secret, null)
  t.equal((await bob.call(issueCredential, agreed)).secret, null)
  const { rows } = await admin.query("select reply::text from gateway.operation where operation_id = 'opn_asked'")
  t.match(rows[0].reply, key)
  t.notMatch(rows[0].reply, 'sk_', 'it is kept sealed')
  t.equal(await refusal(bob.call(issueCredential, asked)), 'IDEMPOTENCY_CONFLICT')
  const lasting = bed.team('alice', { loggedInSecondsAgo: 600 })
  t.equal(await refusal(lasting.call(issueCredential, asked)), 'FRESH_LOGIN_REQUIRED')
  const lesser = { ...asked, input: { ...input, environment: 'sandbox' as const } }
  t.equal(await refusal(lasting.call(issueCredential, lesser)), 'IDEMPOTENCY_CONFLICT', 'nor by a call that takes none')
  const namesake = bed.team('alice', { claims: { sub: 'another account' } })
  t.equal((await namesake.call(issueCredential, asked)).secret, null)
  const both = await Promise.all([alice.call(issueCredential, asked), alice.call(issueCredential, asked)])
  const [shown] = both.filter((reply) => reply.secret !== null)
  t.same(both.map((reply) => reply.secret === null).sort(), [false, true], 'once, also of two calls at a time')
  t.match(shown, { key, secret: /^sk_/ })
  t.equal((await send(bed.services.gateway.addresses.baseUrl, shown as Pair, { path: '/me' })).status, 200)
  t.equal((await alice.call(issueCredential, asked)).secret, null)
  const { rows: left } = await admin.query("select reply from gateway.operation where operation_id = 'opn_asked'")
  t.equal(left[0].reply.once.sealed, null, 'nothing is left of it')
  t.match(await alice.call(issueCredential, { input: { operatorId, environment: 'sandbox' } }), { key: /^bk_test_/ })
})

const [early, late] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-02-01T00:00:00Z')]
const terms: OperatorTerms = {
  rateLimitPerMinute: 600,
  storedMebibytesPerDay: null,
  storedRowsPerDay: null,
  allowedAddresses: ['10.0.0.0/8'],
  suspendedAt: null,
  replayProtection: false,
}

t.test('suspending twice leaves the first time, and activating ends it', async (t) => {
  const suspended = suspend(suspend(terms, early), late)
  t.same(suspended, { ...terms, suspendedAt: early })
  t.same(activate(suspended), terms)
})
