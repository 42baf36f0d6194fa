import { Value } from '@sinclair/typebox/value'
import t from 'tap'
import * as contracts from '../src/index.ts'
import {
  allOperations,
  commonRejects,
  type ErrorCode,
  errorAnchor,
  errorCatalogue,
  errorDetails,
  eventEnvelope,
  eventKinds,
  events,
  httpOperations,
  isDeclared,
  operations,
  type PublicErrorCode,
  publicErrorCodes,
  publicErrors,
  Rejection,
  refusalsAfterKey,
} from '../src/index.ts'

/** The routes of release 1.1.0, by whom they are for: exactly those of the specification. */
const specified = {
  public: [
    ...['GET /openapi.json', 'GET /changelog', 'GET /postman.json', 'GET /signing-snippets.json'],
    ...['GET /test-vectors.json', 'GET /docs'],
  ],
  operator: [
    ...['GET /me', 'POST /players', 'GET /players', 'GET /players/{playerId}/kyc'],
    ...['POST /players/{playerId}/kyc/submissions', 'GET /players/{playerId}/wallet'],
    ...['GET /players/{playerId}/transactions', 'POST /players/{playerId}/deposits'],
    ...['POST /deposits/{depositId}/confirm', 'POST /deposits/{depositId}/fail', 'GET /games'],
    ...['POST /players/{playerId}/game-sessions', 'POST /players/{playerId}/withdrawals'],
    ...['GET /withdrawals/{withdrawalId}', 'POST /withdrawals/{withdrawalId}/cancel', 'POST /webhooks/test'],
  ],
  sandbox: ['POST /sandbox/players/{playerId}/kyc/decision', 'POST /sandbox/withdrawals/{withdrawalId}/decision'],
}

t.test('the routes are those of the specification, each for whom it says', async (t) => {
  const routesFor = (audience: string) =>
    httpOperations
      .filter((operation) => operation.audience === audience)
      .map(({ http }) => `${http?.method} ${http?.path}`)
      .sort()
  for (const [audience, routes] of Object.entries(specified)) t.strictSame(routesFor(audience), routes.sort())
})

t.test('exactly the operations that the specification names require an Idempotency-Key', async (t) => {
  const idempotent = httpOperations.filter(({ idempotency }) => idempotency === 'required').map(({ id }) => id)
  t.strictSame(
    idempotent.sort(),
    [
      ...['registerPlayer', 'submitKyc', 'createDeposit', 'confirmDeposit', 'failDeposit', 'requestWithdrawal'],
      ...['cancelWithdrawal'],
    ].sort(),
  )
})

t.test('there is one way to an operation: through the table', async (t) => {
  const exported: unknown[] = Object.values(contracts)
  t.same(
    allOperations.filter((operation) => exported.includes(operation)),
    [],
  )
})

t.test('an operation may be refused with what it declares, and with what any of its kind may meet', async (t) => {
  const { createDeposit, getWithdrawal, decideWithdrawalInSandbox } = operations.payments
  t.ok(isDeclared(createDeposit, 'RG_BLOCKED'))
  t.notOk(isDeclared(createDeposit, 'DEPOSIT_NOT_PENDING'))
  for (const code of ['VALIDATION_ERROR', 'INTERNAL_ERROR', 'SERVICE_UNAVAILABLE'] as const)
    t.ok(isDeclared(getWithdrawal, code), code)
  t.ok(isDeclared(createDeposit, 'IDEMPOTENCY_CONFLICT'), 'the operation id was used with another input')
  t.notOk(isDeclared(getWithdrawal, 'IDEMPOTENCY_CONFLICT'), 'a query has no stored reply')
  t.notOk(isDeclared(operations.wallet.creditAccount, 'IDEMPOTENCY_CONFLICT'))
  t.ok(isDeclared(decideWithdrawalInSandbox, 'SANDBOX_ONLY'))
  t.notOk(isDeclared(createDeposit, 'SANDBOX_ONLY'))
})

t.test('an event kind has one envelope: the same schema object each time', async (t) => {
  for (const kind of eventKinds) t.equal(eventEnvelope(kind), eventEnvelope(kind), kind)
  t.equal(new Set(eventKinds.map(eventEnvelope)).size, eventKinds.length)
})

t.test('params, query and body of one operation share no name: a service sees them as one input', async (t) => {
  for (const { id, params, query, body } of allOperations) {
    const names = [params, query, body].flatMap((schema) => Object.keys(schema.properties))
    t.equal(new Set(names).size, names.length, id)
  }
})

t.test('a public code is one that a request can meet, and says what it comes from and what to do', async (t) => {
  const ofOperations = httpOperations.flatMap((operation) => [...commonRejects(operation), ...operation.rejects])
  const beforeAnyOperation: ErrorCode[] = ['NOT_FOUND', 'METHOD_NOT_ALLOWED', 'REQUEST_TIMEOUT', 'HEADERS_TOO_LARGE']
  t.strictSame([...publicErrorCodes].sort(), [...new Set([...ofOperations, ...beforeAnyOperation])].sort())
  for (const code of publicErrorCodes) {
    const { cause, cure } = publicErrors[code]
    t.match(`${cause} ${cure}`, /^\S.+\.$/, code)
    // Later the key is forgotten, and the request has a second effect.
    if (/(same|its) Idempotency-Key|stored key/.test(cure)) t.match(cure, /within 24 hours of the first request/i, code)
  }
  t.equal(errorAnchor('PLAYER_NOT_FOUND'), 'error-player-not-found')
})

t.test('each POST route says what it stores, and no other', async (t) => {
  for (const { id, http, stores } of httpOperations) t.equal(stores !== undefined, http?.method === 'POST', id)
})

t.test('a code comes before the Idempotency-Key is looked up or after it, and never both', async (t) => {
  const after = new Set(httpOperations.flatMap(refusalsAfterKey))
  for (const code of ['IDEMPOTENCY_CONFLICT', 'VALIDATION_ERROR', 'INSUFFICIENT_FUNDS'] as const) t.ok(after.has(code))
  for (const operation of httpOperations.filter(({ idempotency }) => idempotency === 'required')) {
    const common = commonRejects(operation)
    const before = common.slice(0, common.indexOf('IDEMPOTENCY_CONFLICT'))
    t.strictSame([...before.filter((code) => after.has(code))], [], operation.id)
  }
})

t.test('the details of an error fit their schema, and the compiler knows them', async (t) => {
  for (const [code, { schema, example, always }] of Object.entries(errorDetails)) {
    t.ok(publicErrorCodes.includes(code as PublicErrorCode), code)
    if (always) t.ok(example, `${code} has an example`)
    if (example !== undefined) t.strictSame([...Value.Errors(schema, example)], [], code)
  }
  new Rejection('PLAYER_NOT_FOUND')
  // @ts-expect-error: this code always says which player there is
  new Rejection('PLAYER_ALREADY_EXISTS')
  // @ts-expect-error: a code without details has none
  new Rejection('PLAYER_NOT_FOUND', { playerId: 'ply_1' })
  // @ts-expect-error: a word that no player's status has
  new Rejection('PLAYER_NOT_ACTIVE', { status: 'active' })
  t.strictSame(Rejection.from({ code: 'RG_BLOCKED', details: { reason: 'daily_limit' } }).details, {
    reason: 'daily_limit',
  })
})

t.test('the schema of an id is recognised, whatever its description', async (t) => {
  const { id, playerId, externalReference } = contracts.Deposit.properties
  t.same([id, playerId, contracts.Player.properties.id].map(contracts.isId), [true, true, true])
  t.not(contracts.isId(externalReference), true)
})

t.test('the id of one kind of record is taken for that of no other, and the compiler says so', async (t) => {
  type Listed = contracts.Input<typeof operations.payments.listDeposits>
  const { operatorId, brandId }: Pick<contracts.Scope, 'operatorId' | 'brandId'> = { operatorId: 'op', brandId: 'brd' }
  const listed: Listed = { brandId, limit: 1 }
  // @ts-expect-error: an operator is no brand
  const swapped: Listed = { brandId: operatorId, limit: 1 }
  const difference: Pick<contracts.Difference, 'brandId'> = { brandId }
  // @ts-expect-error: nor is it where there may be none
  difference.brandId = operatorId
  t.strictSame([listed.brandId, swapped.brandId, difference.brandId], [brandId, operatorId, operatorId])
})

t.test('the examples of every operation and event fit their own schemas', async (t) => {
  for (const { id, params, query, body, reply, example, audience } of httpOperations) {
    if (audience === 'public') continue
    t.ok(example, `${id} has an example`)
    if (example?.params) t.strictSame([...Value.Errors(params, example.params)], [], `${id} params`)
    if (example?.body) t.strictSame([...Value.Errors(body, example.body)], [], `${id} body`)
    if (example?.query) t.strictSame([...Value.Errors(query, Value.Convert(query, example.query))], [], `${id} query`)
    t.strictSame([...Value.Errors(reply, example?.reply)], [], `${id} reply`)
  }
  for (const kind of eventKinds) {
    t.strictSame([...Value.Errors(events[kind].data, events[kind].example)], [], kind)
    t.equal(eventEnvelope(kind).properties.type.const, kind)
  }
})

t.test('the catalogue gives each code of the specification its status', async (t) => {
  const specified = {
    IDEMPOTENCY_KEY_REQUIRED: 400,
    INVALID_CREDENTIALS: 401,
    INVALID_SIGNATURE: 401,
    TIMESTAMP_OUT_OF_RANGE: 401,
    OPERATOR_SUSPENDED: 403,
    FORBIDDEN_IP: 403,
    SANDBOX_ONLY: 403,
    IDEMPOTENCY_CONFLICT: 409,
    IDEMPOTENCY_IN_PROGRESS: 409,
    PLAYER_ALREADY_EXISTS: 409,
    WITHDRAWAL_NOT_CANCELLABLE: 409,
    VALIDATION_ERROR: 422,
    RATE_LIMITED: 429,
    INTERNAL_ERROR: 500,
    PROVIDER_UNAVAILABLE: 502,
  } as const
  for (const [code, status] of Object.entries(specified))
    t.equal(errorCatalogue[code as keyof typeof specified].status, status, code)
})

/** What of the team's work is about nothing that a page shows, beside what stands in the input itself. */
const unseen = {
  'makes something new': ['createOperator', 'createProvider', 'makePaymentFile'],
  'the account, the game or the time stands in the input': [
    ...['lockTeamMember', 'unlockTeamMember', 'endSession', 'endProviderSession'],
    ...['setGameAvailability', 'setGameProvider', 'recordRestore'],
  ],
  'says who works on a case, and changes nothing of it': ['takeKycCase', 'releaseKycCase'],
  'does again what was to be done anyway': ['rerunSetAside', 'rewrapSecrets', 'rewrapWebhookSecrets', 'sealStoredData'],
}

t.test('whoever of the team decides says what they were shown, and no such field is optional', async (t) => {
  const deciding = allOperations.filter(({ audience, kind }) => audience === 'team' && kind !== 'query')
  const saysNothing = deciding.filter(({ body: { properties, required = [] } }) =>
    [...Object.keys(properties)].every(
      (name) => !['seen', 'destinationDigest'].includes(name) || !required.includes(name),
    ),
  )
  t.same(new Set(saysNothing.map(({ id }) => id)), new Set(Object.values(unseen).flat()))
})
