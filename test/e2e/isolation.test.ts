import { startSystem } from '@backoffice/test-kit'
import t from 'tap'
import { createDeposit, demoOperator, depositRequest, playerRequest, register } from './journey.ts'

t.setTimeout(180_000)
const system = await startSystem(t)
const sandbox = demoOperator(system)
const production = demoOperator(system, 'production')
t.teardown(() => Promise.all([sandbox.close(), production.close()]))

t.test('a key works in its own environment only', async (t) => {
  t.match((await sandbox.get('/me')).body, { operator: { environment: 'sandbox' }, brand: { isSandbox: true } })
  t.match((await production.get('/me')).body, { operator: { environment: 'production' }, brand: { isSandbox: false } })
})

t.test('an id of the sandbox is unknown to production, on every route', async (t) => {
  const request = playerRequest()
  const { id: playerId } = (await sandbox.post('/players', request)).body
  await sandbox.post(`/sandbox/players/${playerId}/kyc/decision`, { status: 'aprovado' })
  const deposit = await createDeposit(sandbox, playerId, '50.00')
  await sandbox.post(`/deposits/${deposit.id}/confirm`)
  const pending = await createDeposit(sandbox, playerId, '5.00')
  const withdrawal = { amount: '10.00', currency: 'BRL', method: 'pix', destination: 'ana' }
  const { id: withdrawalId } = (await sandbox.post(`/players/${playerId}/withdrawals`, withdrawal)).body

  t.same((await production.get(`/players?externalId=${request.externalId}`)).body, { data: [] })
  const unknown = {
    PLAYER_NOT_FOUND: [
      production.get(`/players/${playerId}/kyc`),
      production.get(`/players/${playerId}/wallet`),
      production.get(`/players/${playerId}/transactions`),
      production.post(`/players/${playerId}/kyc/submissions`, { documentType: 'rg', reference: 'doc' }),
      production.post(`/players/${playerId}/deposits`, depositRequest()),
      production.post(`/players/${playerId}/withdrawals`, withdrawal),
      production.post(`/players/${playerId}/game-sessions`, { gameId: 'fortune-reels' }),
    ],
    DEPOSIT_NOT_FOUND: [
      production.post(`/deposits/${pending.id}/confirm`),
      production.post(`/deposits/${pending.id}/fail`),
    ],
    WITHDRAWAL_NOT_FOUND: [
      production.get(`/withdrawals/${withdrawalId}`),
      production.post(`/withdrawals/${withdrawalId}/cancel`),
    ],
  }
  for (const [code, answers] of Object.entries(unknown)) {
    for (const answer of await Promise.all(answers)) t.match(answer, { status: 404, body: { error: { code } } })
  }
})

t.test('one externalId and one externalReference exist in both environments', async (t) => {
  const request = playerRequest()
  const [here, there] = await Promise.all([sandbox.post('/players', request), production.post('/players', request)])
  t.equal(here.status, 201)
  t.equal(there.status, 201)
  const deposit = depositRequest()
  t.equal((await sandbox.post(`/players/${here.body.id}/deposits`, deposit)).status, 201)
  t.equal((await production.post(`/players/${there.body.id}/deposits`, deposit)).status, 201)
})

t.test('the sandbox routes are closed to production', async (t) => {
  const { id } = await register(production)
  const closed = [
    production.post(`/sandbox/players/${id}/kyc/decision`, { status: 'aprovado' }),
    production.post('/sandbox/withdrawals/wdr_1/decision', { decision: 'approve' }),
  ]
  for (const answer of await Promise.all(closed))
    t.match(answer, { status: 403, body: { error: { code: 'SANDBOX_ONLY' } } })
})
