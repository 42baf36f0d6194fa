import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import {
  apiPrefix,
  commonRejects,
  type Environment,
  type ErrorCode,
  errorCatalogue,
  httpOperations,
  type Operation,
  operations,
  providerApiPrefix,
  providerErrorCodes,
  providerOperations,
  publicErrorCodes,
} from '@backoffice/contracts'
import { OperatorClient, reconcile, testBed } from '@backoffice/test-kit'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import t from 'tap'
import { createDeposit, expectStatus, fund, register } from '../journey.ts'
import { services } from '../services.ts'
import { Effects } from './effects.ts'
import { bytesOf, exchange, type HostileBytes, type RawResponse, type Sender } from './hostile-bytes.ts'
import { type HostileRequest, hostileRequests } from './hostile-requests.ts'
import { allowRandomRuns, holdsForRandom, triesAll } from './random-runs.ts'

allowRandomRuns(t)

// A client that only makes mistakes would be turned away.
const config = { gateway: { FAILED_AUTHENTICATIONS_PER_MINUTE: 100_000_000, SANDBOX_PLAY_STAKES_PER_DAY: 10_000_000 } }
const bed = await testBed(t, services, { config })
const alice = bed.team('alice')
const { gateway, players } = operations
const created = await alice.call(gateway.createOperator, {
  input: { name: 'Hostile', rateLimitPerMinute: 10_000_000 },
})
const pair = (shown: { key: string; secret: string | null } | null) => ({
  key: shown?.key ?? '',
  secret: shown?.secret ?? '',
})
const { baseUrl, providerUrl } = bed.services.gateway.addresses
const operator = new OperatorClient(baseUrl, pair(created.sandbox))
t.teardown(() => operator.close())

/** A player who may do everything. */
async function newPlayer(): Promise<string> {
  const { id: playerId } = await register(operator)
  expectStatus(await operator.post(`/sandbox/players/${playerId}/kyc/decision`, { status: 'aprovado' }), 200)
  await fund(operator, playerId, '1000.00')
  return playerId
}

type Keys = Pick<Sender, 'prefixes' | 'keyHeader' | 'credentials'>

/** What a hostile client calls: one of the two surfaces. */
interface Target extends Keys {
  readonly name: string
  readonly baseUrl: string
  readonly operations: readonly Operation[]
  readonly codes: readonly string[]
  /** Records on which every operation would succeed. */
  readonly newRecords: () => Promise<Record<string, string>>
}

const operators: Target = {
  name: 'operators',
  baseUrl,
  operations: httpOperations,
  codes: publicErrorCodes,
  prefixes: { sandbox: apiPrefix, production: apiPrefix },
  keyHeader: 'X-Operator-Key',
  credentials: { sandbox: pair(created.sandbox), production: pair(created.production) },
  async newRecords() {
    const playerId = await newPlayer()
    const request = { amount: '1.00', currency: 'BRL', method: 'pix', destination: 'ana@example.com' }
    const withdrawal = expectStatus(await operator.post(`/players/${playerId}/withdrawals`, request), 201)
    const { id: depositId } = await createDeposit(operator, playerId)
    return { playerId, depositId, withdrawalId: withdrawal.id }
  },
}

const gameId = 'wallet-reels'

async function newProvider(): Promise<Keys & { readonly providerId: string }> {
  const rates = { stakesPerMinute: 10_000_000, othersPerMinute: 10_000_000 }
  const { id: providerId } = await alice.call(gateway.createProvider, { input: { name: 'Hostile', ...rates } })
  await alice.call(players.setGameProvider, { input: { gameId, providerId } })
  const { brands } = await alice.call(gateway.getOperator, { input: { name: 'Hostile' } })
  const grantedIn = async (environment: Environment) => {
    const { id: brandId = '' } = brands.find((brand) => brand.environment === environment) ?? {}
    await bed.agreed(gateway.setProviderGrant, { input: { providerId, brandId, grant: 'active' } })
    const key = await bed.agreed(gateway.issueProviderKey, { input: { providerId, environment } })
    return { prefix: `${providerApiPrefix}/${brandId}`, key: pair(key) }
  }
  const [sandbox, production] = [await grantedIn('sandbox'), await grantedIn('production')]
  return {
    providerId,
    prefixes: { sandbox: sandbox.prefix, production: production.prefix },
    keyHeader: 'X-Provider-Key',
    credentials: { sandbox: sandbox.key, production: production.key },
  }
}

const provider = await newProvider()
const providers: Target = {
  ...provider,
  name: 'providers',
  baseUrl: providerUrl,
  operations: providerOperations,
  codes: providerErrorCodes,
  async newRecords() {
    const playerId = await newPlayer()
    const opened = expectStatus(await operator.post(`/players/${playerId}/game-sessions`, { gameId }), 201)
    return { playerId, sessionId: opened.id, roundId: randomUUID(), gameId }
  },
}

/** What a surface publishes of itself. */
async function publishedBy({ baseUrl }: Target) {
  const published = await (await fetch(`${baseUrl}/openapi.json`)).json()
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema({ ...published, $id: 'openapi' })
  const escaped = (text: string) => encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'))
  return {
    fitsError: ajv.compile({ $ref: 'openapi#/components/schemas/ErrorReply' }),

    /** What the document says of the reply of an operation that succeeds. */
    replySchema({ http }: Operation, status: number): ((reply: unknown) => unknown) | null {
      const { path = '', method = '' } = http ?? {}
      const own = published.paths[path]?.[method.toLowerCase()]?.responses[status]
      // A refusal of several operations has a name.
      const [, shared] = /^#\/components\/responses\/(.+)$/.exec(own?.$ref ?? '') ?? []
      const response = shared === undefined ? own : published.components.responses[shared]
      if (!('application/json' in (response?.content ?? {}))) return null
      const place =
        shared === undefined
          ? ['paths', path, method.toLowerCase(), 'responses', String(status)]
          : ['components', 'responses', shared]
      return (
        ajv.getSchema(`openapi#/${[...place, 'content', 'application/json', 'schema'].map(escaped).join('/')}`) ?? null
      )
    },
  }
}

/** Node's. */
const headersBytesMax = 16_384

const textOf = ({ bytes }: HostileBytes) => bytes.subarray(0, 2_000).toString('latin1')
const effects = await Effects.watch(bed.sql('admin'))

for (const target of [operators, providers])
  t.test(`whatever ${target.name} send is answered as published, and what is refused has no effect`, async (t) => {
    const { fitsError, replySchema } = await publishedBy(target)
    const codes = new Set<string>(target.codes)
    const byId = new Map<string, Operation>(target.operations.map((operation) => [operation.id, operation]))
    const operationOf = ({ operation: id }: HostileRequest): Operation => byId.get(id) as Operation
    const { host, port } = new URL(target.baseUrl)
    const met = new Map<string, number>()
    const attacked = new Map<string, number>()
    t.teardown(() =>
      t.comment(
        [...met]
          .sort(([, a], [, b]) => b - a)
          .map(([name, count]) => `${name} ${count}`)
          .join(', '),
      ),
    )
    let ids = await target.newRecords()
    // An effect that comes late is seen by the request after it.
    let before = 'the first request'
    await effects.take()

    /** A response that is an error says so as the documents promise. */
    const assertRefusal = ({ status, headers, text }: RawResponse): string => {
      const body = JSON.parse(text)
      const fits: boolean = fitsError(body)
      assert.ok(fits, `not as published: ${text}`)
      const { code, requestId, details } = body.error
      assert.ok(codes.has(code), `${code} is a published code`)
      assert.equal(requestId, headers['x-request-id'])
      assert.match(headers['content-type'] ?? '', /^application\/json/)
      // Bytes that are not HTTP have the status that every HTTP client expects of them.
      const isNoRequest = status === 400 && code === 'VALIDATION_ERROR' && details?.in === 'headers'
      if (!isNoRequest) assert.equal(status, errorCatalogue[code as ErrorCode].status)
      return code
    }

    /** What the document says of this code of this operation, its details included. */
    const assertDeclared = (operation: Operation, { status, text }: RawResponse, code: string): void => {
      const declared: readonly string[] = [...commonRejects(operation), ...operation.rejects]
      if (!declared.includes(code) || errorCatalogue[code as ErrorCode].status !== status) return
      const fits = replySchema(operation, status)
      assert.ok(fits?.(JSON.parse(text)), `not as published for ${operation.id} ${status}: ${text}`)
    }

    const attack = async (request: HostileRequest, sent: HostileBytes): Promise<string> => {
      const response = await exchange(Number(port), sent.bytes, {
        isWhole: sent.isWhole,
        hasBody: sent.method !== 'HEAD',
      })
      const written = await effects.take()
      if (response === null) {
        // A response is lost when the server closes before it has read a request that is too large.
        assert.ok(!sent.isWhole || sent.bytes.length > headersBytesMax, 'a whole request gets a response')
        assert.deepEqual(written, [])
        return 'no response'
      }
      const { status, text } = response
      assert.ok(status < 500 || text.includes('"WIN_HELD"'), `${status} ${text}`)
      assert.ok(response.headers['x-request-id'], 'every response has an X-Request-Id')
      if (status >= 400) {
        const code = sent.method === 'HEAD' ? String(status) : assertRefusal(response)
        assertDeclared(operationOf(request), response, code)
        assert.deepEqual(written, [], `${code} has no effect`)
        return code
      }
      const operation = operationOf(request)
      const fits = sent.method === 'HEAD' ? null : replySchema(operation, status)
      if (fits !== null) assert.ok(fits(JSON.parse(text)), `not as published: ${text}`)
      if (operation.kind === 'query') assert.deepEqual(written, [], 'a query has no effect')
      else ids = await target.newRecords()
      await effects.take()
      return String(status)
    }

    const property = fc.asyncProperty(hostileRequests([...byId.keys()]), async (request) => {
      const id = request.operation
      attacked.set(id, (attacked.get(id) ?? 0) + 1)
      const fresh = randomUUID()
      const sent = bytesOf(request, operationOf(request), {
        ...target,
        host,
        ids: { ...ids, transactionId: fresh },
        fresh,
      })
      const outcome = await attack(request, sent).catch((cause) => {
        throw new Error(`${cause.message}\n${textOf(sent)}\nThe request before it: ${before}`, { cause })
      })
      before = `${outcome}\n${textOf(sent)}`
      met.set(outcome, (met.get(outcome) ?? 0) + 1)
    })
    await holdsForRandom(t, property, { runsOfProof: 500 })
    if (triesAll()) t.strictSame([...attacked.keys()].sort(), [...byId.keys()].sort(), 'every operation was attacked')
  })

t.test('and the ledger has no difference', async (t) => {
  t.same((await reconcile(bed.team('alice'))).differences, [])
})
