import { operations, rpcSubject, type Scope } from '@backoffice/contracts'
import { hourMs } from '@backoffice/process'
import { RpcClient } from '@backoffice/rpc'
import { refusal, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { countUp, payments } from '../probe-services.ts'

const bed = await testBed(t, { payments })
const gateway = await bed.nats('gateway')
// A client that registers nothing by itself.
const rpc = new RpcClient(gateway)
const { registerBrand } = operations.payments

const register = (scope: Scope) => rpc.call(registerBrand, { scope, input: {} })
const countedUp = async (scope: Scope) => (await rpc.call(countUp, { scope, input: { record: 'counted' } })).count
const count = async () => {
  const { rows } = await bed.sql('payments').query("select count from record where id = 'counted'")
  return rows[0]?.count ?? 0
}
const keptOf = async (brandId: string) =>
  (await bed.sql('payments').query('select * from brand where id = $1', [brandId])).rows[0]

const production = bed.scope({ environment: 'production' })
const lies: Readonly<Record<string, Partial<Scope>>> = {
  'another environment': { environment: 'sandbox' },
  'another operator': { operatorId: 'op_other' },
  'another currency': { currency: 'USD' },
  'another time zone': { timeZone: 'Asia/Tokyo' },
}

t.test('a call is for a later moment until its brand is registered, and is then taken at once', async (t) => {
  t.equal(await refusal(countedUp(production)), 'SERVICE_UNAVAILABLE')
  t.equal(await count(), 0)
  await register(production)
  t.equal(await countedUp(production), 1)
})

t.test('a brand that is registered again stays as it is, and with anything else it is refused', async (t) => {
  const kept = await keptOf(production.brandId)
  t.same(await register(production), { brandId: production.brandId })
  for (const [what, lie] of Object.entries(lies))
    t.equal(await refusal(register({ ...production, ...lie })), 'INTERNAL_ERROR', what)
  t.same(await keptOf(production.brandId), kept)
})

for (const [what, lie] of Object.entries(lies)) {
  t.test(`a call that says ${what} than its brand has is refused and does nothing`, async (t) => {
    const before = await count()
    t.equal(await refusal(countedUp({ ...production, ...lie })), 'INTERNAL_ERROR')
    t.equal(await count(), before)
  })
}

t.test('of two that register one brand differently at once one is refused', async (t) => {
  const asked = ['sandbox', 'production'].flatMap((environment) =>
    Array.from({ length: 5 }, () => ({ ...production, brandId: 'brd_raced', environment }) as Scope),
  )
  const outcomes = await Promise.all(asked.map((scope) => refusal(register(scope))))
  const { environment } = await keptOf('brd_raced')
  t.same(
    outcomes,
    asked.map((scope) => (scope.environment === environment ? null : 'INTERNAL_ERROR')),
  )
})

t.test('a process that knows a brand reads nothing of it again', async (t) => {
  const admin = bed.sql('admin')
  await admin.query('alter table payments.brand rename to away')
  t.teardown(() => admin.query('alter table payments.away rename to brand'))
  const before = await count()
  t.equal(await countedUp(production), before + 1)
})

t.test('only the gateway may register a brand', async (t) => {
  const players = await bed.nats('players')
  const request = players.request(rpcSubject(registerBrand), '{}', { timeout: hourMs })
  t.match(await request.then(() => 'sent', String), /permission/i)
})
