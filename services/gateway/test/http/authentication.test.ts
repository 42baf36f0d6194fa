import { randomUUID } from 'node:crypto'
import { defined, operations } from '@backoffice/contracts'
import { secretBoxFrom } from '@backoffice/database/vault'
import { loadConfig } from '@backoffice/process'
import type { ReadDb } from '@backoffice/service-runtime'
import { byTwo, eventually } from '@backoffice/test-kit'
import t from 'tap'
import { KeyDirectory } from '../../src/http/authenticate.ts'
import { countUnusedCredentials, findCredentials, openCredential } from '../../src/operators/records.ts'
import { gateway } from '../../src/service.ts'
import { gatewayBed } from '../bed.ts'
import { type Pair, send } from '../signed-client.ts'

const {
  createOperator,
  getOperator,
  listOperators,
  suspendOperator,
  activateOperator,
  setOperatorLimits,
  issueCredential,
  revokeCredential,
} = operations.gateway

let stoppedAt: Date | undefined
const bed = await gatewayBed(t, {}, { clock: { now: () => stoppedAt ?? new Date() } })
/** How much more time has passed by the clock that measures the life of entries. */
let aheadMs = 0
const sinceStartMs = performance.now.bind(performance)
t.intercept(performance, 'now', { value: () => sinceStartMs() + aheadMs })
const { reader } = bed.services.gateway.db
let statements = 0
const counted: ReadDb = Object.assign(
  <Row extends object>(text: TemplateStringsArray, ...values: readonly unknown[]) => {
    statements += 1
    return reader<Row>(text, ...values)
  },
  reader,
)
const secrets = secretBoxFrom(loadConfig(gateway.configuration, bed.environment('gateway')) as never)
const none = { bytes: 0, rows: 0 }
const newDirectory = (entryTtlMs?: number) => {
  statements = 0
  return new KeyDirectory({
    find: (keys) => findCredentials(counted, keys),
    open: openCredential(secrets, { sandbox: none, request: none }),
    ...defined({ entryTtlMs }),
  })
}
const madeUp = () => `bk_live_${randomUUID().replaceAll('-', '')}`
const known = await bed.team('alice').call(createOperator, { input: { name: 'Known' } })

const first = bed.services.gateway.addresses.baseUrl
const second = (await bed.start('gateway')).addresses.baseUrl
const alice = bed.team('alice')
const operator = await alice.call(createOperator, { input: { name: 'Auth Co', rateLimitPerMinute: 100_000 } })
const { sandbox, production } = operator

t.test('keys that are asked for together are one statement', async (t) => {
  const directory = newDirectory()
  const keys = [...Array.from({ length: 150 }, madeUp), known.sandbox.key, known.production?.key ?? '']
  const found = await Promise.all(keys.map((key) => directory.find(key, '192.0.2.1')))
  t.equal(statements, 1)
  t.same(found.slice(0, 150).filter(Boolean), [])
  t.match(found.slice(150), [{ secret: known.sandbox.secret }, { secret: known.production?.secret ?? '' }])
})

t.test('a key that does not exist is asked for once', async (t) => {
  const directory = newDirectory()
  const key = madeUp()
  for (let count = 0; count < 5; count++) t.equal(await directory.find(key, '192.0.2.1'), null)
  t.equal(statements, 1)
})

t.test(
  'whoever makes up keys uses one connection at most, and another caller does not wait for all of them',
  async (t) => {
    const directory = newDirectory()
    let answered = 0
    const flood = Array.from({ length: 600 }, () =>
      directory.find(madeUp(), '192.0.2.1').then(
        () => {
          answered += 1
        },
        (error: { code: string }) => error.code,
      ),
    )
    const found = await directory.find(known.sandbox.key, '198.51.100.1')
    t.equal(found?.secret, known.sandbox.secret)
    t.ok(answered <= 200, 'it was in the first statement')
    const refused = (await Promise.all(flood)).filter((code) => code !== undefined)
    t.equal(refused.length, 100, 'more than half of the line is never for one caller')
    t.same([...new Set(refused)], ['RATE_LIMITED'])
    t.ok(statements <= 4)
  },
)

t.test('a key that has existed does not wait in the line of those that are made up', async (t) => {
  const directory = newDirectory(1)
  await directory.find(known.sandbox.key, '192.0.2.1')
  const callers = Array.from({ length: 10 }, (_, index) => `192.0.2.${index}`)
  const flood = callers.flatMap((caller) =>
    Array.from({ length: 200 }, () => directory.find(madeUp(), caller).catch(() => null)),
  )
  // From an address that fills the other line, after the life of its entry.
  t.equal((await directory.find(known.sandbox.key, '192.0.2.1'))?.secret, known.sandbox.secret)
  await Promise.all(flood)
})

const me = (pair: Pair | null, options: Partial<Parameters<typeof send>[2]> = {}, baseUrl = first) =>
  send(baseUrl, pair, { path: '/me', ...options })
const code = async (answer: ReturnType<typeof send>) => {
  const { status, json, headers } = await answer
  t.equal(json.error?.requestId, headers['x-request-id'], 'the envelope carries X-Request-Id')
  return `${status} ${json.error?.code}`
}

t.test('when a key was last used is known, and of which keys in force that is long ago', async (t) => {
  const { operatorId, ...pairs } = await alice.call(createOperator, { input: { name: 'Uses Co' } })
  const keysOf = async () => {
    const { credentials } = await alice.call(getOperator, { input: { name: operatorId } })
    return new Map(credentials.map(({ environment, ...credential }) => [environment, credential]))
  }
  const begun = Date.now()
  t.equal((await me(pairs.sandbox, { secret: 'sk_wrong' })).status, 401)
  t.equal((await me(pairs.sandbox)).status, 200)
  const used = await eventually(async () => (await keysOf()).get('sandbox')?.lastUsedAt ?? false)
  t.ok(Date.parse(used) >= begun)
  const never = (await keysOf()).get('production')
  t.equal(never?.lastUsedAt, null)
  t.equal((await me(pairs.sandbox, {}, second)).status, 200, 'another replica')
  const { data } = await alice.call(listOperators, { input: { after: 'Uses', limit: 1 } })
  t.ok(data[0]?.credentials.some(({ lastUsedAt }) => lastUsedAt !== null))

  const admin = bed.sql('admin')
  const unused = async () => {
    const counts = await countUnusedCredentials(bed.services.gateway.db, new Date(Date.now() - 90 * 86_400_000))
    return Object.fromEntries(counts.map(({ environment, unused }) => [environment, Number(unused)]))
  }
  t.same(await unused(), { sandbox: 0, production: 0 })
  await admin.query("update gateway.credential_use set last_used_at = now() - interval '91 days'")
  t.ok(((await unused()).sandbox ?? 0) > 0)
  await admin.query('delete from gateway.credential_use')
  t.same(await unused(), { sandbox: 0, production: 0 }, 'no uses are recorded for so long yet')
})

t.test('what is wrong is judged in order: key, timestamp, signature', async (t) => {
  const unknown = { key: 'bk_test_00000000000000000000000000000000', secret: 'sk_x' }
  t.equal(await code(me(unknown, { timestamp: '1' })), '401 INVALID_CREDENTIALS')
  t.equal(await code(me({ ...sandbox, key: '' })), '401 INVALID_CREDENTIALS')
  const now = Math.floor(Date.now() / 1_000)
  stoppedAt = new Date(now * 1_000)
  t.teardown(() => {
    stoppedAt = undefined
  })
  t.equal(await code(me(sandbox, { timestamp: `${now - 301}`, secret: 'sk_wrong' })), '401 TIMESTAMP_OUT_OF_RANGE')
  t.equal(await code(me(sandbox, { timestamp: `${now + 301}` })), '401 TIMESTAMP_OUT_OF_RANGE')
  for (const timestamp of ['soon', `0${now}`, `00${now}`, `+${now}`, `${now}.0`, ''])
    t.equal(await code(me(sandbox, { timestamp })), '401 TIMESTAMP_OUT_OF_RANGE', timestamp)
  t.equal(await code(me(sandbox, { secret: 'sk_wrong' })), '401 INVALID_SIGNATURE')
  for (const seconds of [-300, 300]) t.equal((await me(sandbox, { timestamp: `${now + seconds}` })).status, 200)
})

t.test('the signature covers method, path, query order and the body bytes, in lowercase hex', async (t) => {
  t.equal(
    await code(send(first, sandbox, { path: '/players?externalId=a', signedPath: '/api/v1/players?externalId=b' })),
    '401 INVALID_SIGNATURE',
  )
  t.equal(
    await code(send(first, sandbox, { method: 'POST', path: '/players', body: '{}', signedBody: '{ }' })),
    '401 INVALID_SIGNATURE',
  )
  const upper = await me(sandbox, { headers: { 'X-Signature': 'A'.repeat(64) } })
  t.equal(upper.json.error.code, 'INVALID_SIGNATURE')
})

t.test('a path has one spelling, and what has to be encoded in it is signed as it is sent', async (t) => {
  for (const path of [
    '/%6de',
    '/m%65',
    '/%4De',
    '/players/ply%5f1/wallet',
    '/players/a/%77allet',
    '/games%2Ex',
    '/%2e/me',
  ])
    t.equal(await code(send(first, sandbox, { path })), '404 NOT_FOUND', path)
  const encoded = send(first, sandbox, { path: '/players/ply%20%C3%A9%2F1/wallet' })
  t.equal(await code(encoded), '422 VALIDATION_ERROR', 'its signature is right, and no id looks like it')
  t.equal((await me(sandbox, { path: '/me?externalId=%61' })).status, 200)
})

t.test('in the sandbox a refusal helps to find the mistake; production says nothing', async (t) => {
  const wrong = await me(sandbox, { secret: 'sk_wrong', timestamp: String(Math.floor(Date.now() / 1000)) })
  t.match(wrong.json.error.details.canonicalString, /^GET\n\/api\/v1\/me\n\d+\n[0-9a-f]{64}$/)
  const { canonicalString, compareAt } = wrong.json.error.details
  t.equal(compareAt, `${first}/docs/signing#${encodeURIComponent(canonicalString)}`, 'a page that compares it')
  t.equal((await fetch(compareAt)).status, 200)
  t.notMatch(wrong.text, sandbox.secret ?? '-')
  t.type((await me(sandbox, { timestamp: '1' })).json.error.details.serverTime, 'number')
  t.equal((await me(production, { secret: 'sk_wrong' })).json.error.details, undefined)
  t.equal((await me(production, { timestamp: '1' })).json.error.details, undefined)
})

t.test('in the sandbox a malformed header is called what it is', async (t) => {
  const seconds = Math.floor(Date.now() / 1000)
  const signed = (signature: string) => ({ headers: { 'X-Signature': signature } })
  const dated = (timestamp: string | number) => ({ timestamp: String(timestamp) })
  const faults: readonly [Partial<Parameters<typeof send>[2]>, string | RegExp][] = [
    [{ without: 'X-Signature' }, 'X-Signature is missing'],
    [signed('A1'.repeat(32)), 'X-Signature: upper case; expected 64 of lowercase hex'],
    [signed('g'.repeat(64)), 'X-Signature: characters that are not hex; expected 64 of lowercase hex'],
    [signed(`${'aZ+/'.repeat(10)}aZ9=`), 'X-Signature: 44 characters, as of base64; expected 64 of lowercase hex'],
    [signed(''), 'X-Signature: 0 characters; expected 64 of lowercase hex'],
    [{ without: 'X-Timestamp' }, 'X-Timestamp is missing'],
    [dated(Date.now()), 'X-Timestamp is in milliseconds; expected epoch seconds'],
    [dated('soon'), 'X-Timestamp: expected epoch seconds, digits alone, without leading zeros'],
    [dated(`0${seconds}`), 'X-Timestamp: expected epoch seconds, digits alone, without leading zeros'],
    [dated(seconds - 1_000), /^X-Timestamp is 1\d\d\d seconds behind our clock$/],
    [dated('9'.repeat(12)), /^X-Timestamp is \d+ seconds ahead of our clock$/],
  ]
  for (const [options, hint] of faults) {
    t.match((await me(sandbox, options)).json.error.details.hint, hint)
    t.equal((await me(production, options)).json.error.details, undefined, 'production says nothing')
  }
  t.notOk('hint' in (await me(sandbox, { secret: 'sk_wrong' })).json.error.details, 'its form is right')
  const keyed = async (key: string) => (await me({ ...sandbox, key })).json.error.details
  t.equal(
    (await keyed('bk_test_abc')).hint,
    'X-Operator-Key, after bk_test_: 3 characters; expected 32 of lowercase hex',
  )
  for (const key of [`bk_test_${'0'.repeat(32)}`, 'bk_live_abc', 'sk_abc', ''])
    t.equal(await keyed(key), undefined, key)
})

t.test('suspension, activation and addresses hold on every replica within a second', async (t) => {
  const input = { operatorId: operator.operatorId, reason: 'test' }
  const both = async (expected: string) => {
    aheadMs += 1_000
    for (const baseUrl of [first, second]) {
      const { status, json } = await me(sandbox, {}, baseUrl)
      t.equal(status === 200 ? 'ok' : json.error.code, expected)
    }
  }
  await both('ok')
  await alice.call(suspendOperator, { input })
  await both('OPERATOR_SUSPENDED')
  await alice.call(activateOperator, { input })
  await both('ok')
  await alice.call(setOperatorLimits, { input: { ...input, allowedAddresses: ['10.0.0.0/8', '2001:db8::/32'] } })
  await both('FORBIDDEN_IP')
  const forwarded = await me(sandbox, { headers: { 'X-Forwarded-For': '10.0.0.1' } })
  t.equal(forwarded.status, 403, 'no proxy is trusted, so what a caller says of itself proves nothing')
  await byTwo(bed, setOperatorLimits, { ...input, allowedAddresses: ['127.0.0.0/8', '::1'] })
  await both('ok')
})

t.test(
  'a second pair works beside the first, and revoking the first costs no outage; the last one stays',
  async (t) => {
    const issued = await alice.call(issueCredential, {
      input: { operatorId: operator.operatorId, environment: 'sandbox' },
    })
    t.match(issued.key, /^bk_test_/)
    t.equal((await me(issued)).status, 200)
    t.equal((await me(sandbox)).status, 200)
    await alice.call(revokeCredential, { input: { key: sandbox.key, reason: 'rotation' } })
    await eventually(async () => (await me(sandbox)).status === 401 || false)
    t.equal((await me(issued)).status, 200)
    await t.rejects(alice.call(revokeCredential, { input: { key: issued.key } }), { code: 'CREDENTIAL_LAST_ACTIVE' })
  },
)

t.test(
  'a secret is shown once: a replay of the same operation id shows none, and none is in the database',
  async (t) => {
    const operationId = 'opn_shown_once'
    const created = await alice.call(createOperator, { input: { name: 'Once' }, operationId })
    t.match(created.sandbox.secret, /^sk_/)
    t.match(created.sandbox.webhookSecret, /^whsec_/)
    const replay = await alice.call(createOperator, { input: { name: 'Once' }, operationId })
    t.strictSame(replay.sandbox, { key: created.sandbox.key, secret: null, webhookSecret: null })
    await t.rejects(alice.call(createOperator, { input: { name: 'Once' } }), { code: 'OPERATOR_ALREADY_EXISTS' })
    const { rows } = await bed.sql('admin').query(`
    select (select json_agg(o)::text from gateway.operation o) || (select json_agg(c)::text from gateway.credential c)
      || (select json_agg(a)::text from gateway.audit_entry a) as everything`)
    t.notMatch(rows[0].everything, created.sandbox.secret ?? '-')
    t.notMatch(rows[0].everything, created.production?.webhookSecret ?? '-')
  },
)
