import { randomUUID } from 'node:crypto'
import { type ErrorCode, httpOperations, type Operation, operations } from '@backoffice/contracts'
import {
  askAs,
  callersOf,
  type HttpReply,
  newDeposit,
  newWithdrawal,
  OperatorClient,
  richPlayer,
  sharedSystem,
} from '@backoffice/test-kit'
import t from 'tap'
import { depositRequest, expectStatus, fund, playerRequest, register } from '../journey.ts'

const system = await sharedSystem(t)
const alice = await system.asTeam('alice')
const environments = ['sandbox', 'production'] as const
type Environment = (typeof environments)[number]

/** One brand: an operator in one environment. */
interface Tenant {
  readonly name: string
  readonly environment: Environment
  readonly client: OperatorClient
}

async function newTenants(operator: string): Promise<readonly Tenant[]> {
  const created = await alice.call(operations.gateway.createOperator, {
    input: { name: operator, rateLimitPerMinute: 1_000_000 },
  })
  return environments.map((environment) => {
    const { key = '', secret } = created[environment] ?? {}
    const client = new OperatorClient(system.baseUrl, { key, secret: secret ?? '' })
    t.teardown(() => client.close())
    return { name: `${operator} in ${environment}`, environment, client }
  })
}
const tenants = [...(await newTenants('Casa Azul')), ...(await newTenants('Casa Verde'))]

/** The ids that paths take: how a tenant comes by one, and what it is to everybody else. */
interface Records {
  readonly playerId: string
  readonly depositId: string
  readonly withdrawalId: string
}
const unknown: Readonly<Record<keyof Records, ErrorCode>> = {
  playerId: 'PLAYER_NOT_FOUND',
  depositId: 'DEPOSIT_NOT_FOUND',
  withdrawalId: 'WITHDRAWAL_NOT_FOUND',
}

async function newRecords({ client }: Tenant): Promise<Records> {
  const by = callersOf(client, alice)
  const playerId = await richPlayer(by)
  await fund(client, playerId, '60.00')
  return { playerId, depositId: await newDeposit(by), withdrawalId: await newWithdrawal(by) }
}

/** Every operation whose path takes an id: one that is added is attacked without a change here. */
const takingIds = httpOperations.filter(({ params }) => Object.keys(params.properties).length > 0)

/** Sends an operation's example about somebody's records, under a reference of its own. */
function ask(tenant: Tenant, operation: Operation, ids: Records): Promise<HttpReply> {
  const body = (operation.example?.body ?? {}) as object
  const own = 'externalReference' in body ? { externalReference: randomUUID() } : {}
  return askAs(tenant.client, operation, { ...ids, ...body, ...own })
}

/** What a tenant sees of its records. */
async function seenBy({ client }: Tenant, { playerId, withdrawalId }: Records): Promise<unknown> {
  const paths = ['wallet', 'kyc', 'transactions'].map((what) => `/players/${playerId}/${what}`)
  const replies = await Promise.all([...paths, `/withdrawals/${withdrawalId}`].map((path) => client.get(path)))
  return replies.map((reply) => expectStatus(reply, 200))
}

const errorOf = ({ status, body: { error } }: HttpReply) => ({ status, code: error?.code, message: error?.message })

t.test('a key works for its own operator and environment only', async (t) => {
  for (const { name, environment, client } of tenants) {
    const { operator, brand } = (await client.get('/me')).body
    t.equal(`${operator.name} in ${operator.environment}`, name)
    t.equal(brand.isSandbox, environment === 'sandbox')
  }
})

for (const owner of tenants) {
  t.test(`to everybody else, the records of ${owner.name} are as unknown as ids that were never issued`, async (t) => {
    const records = await newRecords(owner)
    const before = await seenBy(owner, records)
    const never: Records = { playerId: 'ply_never', depositId: 'dep_never', withdrawalId: 'wdr_never' }
    for (const stranger of tenants.filter((tenant) => tenant !== owner)) {
      for (const operation of takingIds) {
        const [kind] = Object.keys(operation.params.properties) as (keyof Records)[]
        const closed = operation.audience === 'sandbox' && stranger.environment === 'production'
        const code = closed ? 'SANDBOX_ONLY' : unknown[kind as keyof Records]
        const answer = errorOf(await ask(stranger, operation, records))
        t.match(answer, { status: closed ? 403 : 404, code }, `${stranger.name}: ${operation.id}`)
        t.same(answer, errorOf(await ask(stranger, operation, never)), 'and nothing tells that they exist')
      }
    }
    t.same(await seenBy(owner, records), before, 'nothing was changed')
    for (const operation of takingIds) {
      const { status, code } = errorOf(await ask(owner, operation, records))
      if (operation.audience === 'sandbox' && owner.environment === 'production') {
        t.same([status, code], [403, 'SANDBOX_ONLY'], operation.id)
        continue
      }
      // No game provider is configured here, so a session in production is refused for that.
      t.notOk(Object.values(unknown).includes(code), `its owner is answered: ${operation.id} ${status}`)
    }
  })
}

t.test('a player is found by its externalId, and a cursor goes on, for its own tenant only', async (t) => {
  for (const owner of tenants) {
    const { playerId } = await newRecords(owner)
    const request = playerRequest()
    const { id } = expectStatus(await owner.client.post('/players', request), 201)
    const found = `/players?externalId=${request.externalId}`
    t.match((await owner.client.get(found)).body, { data: [{ id }] })
    const page = expectStatus(await owner.client.get(`/players/${playerId}/transactions?limit=1`), 200)
    t.ok(page.nextCursor)
    const goesOn = (player: string) => `/players/${player}/transactions?cursor=${encodeURIComponent(page.nextCursor)}`
    t.equal((await owner.client.get(goesOn(playerId))).status, 200)
    for (const stranger of tenants.filter((tenant) => tenant !== owner)) {
      t.same((await stranger.client.get(found)).body, { data: [] }, `${stranger.name} finds nobody`)
      const own = await register(stranger.client)
      t.match(errorOf(await stranger.client.get(goesOn(own.id))), { status: 422, code: 'VALIDATION_ERROR' })
    }
  }
})

t.test('one externalId, one externalReference and one Idempotency-Key exist for each of them', async (t) => {
  const [player, deposit] = [playerRequest(), depositRequest()]
  const [first, second] = [randomUUID(), randomUUID()]
  const players = new Set<string>()
  const deposits = new Set<string>()
  for (const { client } of tenants) {
    const registered = await client.post('/players', player, { idempotencyKey: first })
    const { id } = expectStatus(registered, 201)
    const created = await client.post(`/players/${id}/deposits`, deposit, { idempotencyKey: second })
    for (const { headers } of [registered, created]) t.notOk(headers['idempotent-replayed'])
    players.add(id)
    deposits.add(expectStatus(created, 201).id)
  }
  t.equal(players.size, tenants.length)
  t.equal(deposits.size, tenants.length)
})
