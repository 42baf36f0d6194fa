import { sharedSystem } from '@backoffice/test-kit'
import t from 'tap'
import { balanceOf, createDeposit, demoOperator, playerRequest, register, statementOf, sumOf } from './journey.ts'

t.setTimeout(180_000)
const system = await sharedSystem(t)
const operator = demoOperator(system)
t.teardown(() => operator.close())

t.test('a player goes from registration to a credited wallet', async (t) => {
  const request = playerRequest()
  const created = await operator.post('/players', request)
  t.equal(created.status, 201)
  t.match(created.body, {
    status: 'ativo',
    kycStatus: 'nao_iniciado',
    cpf: request.cpf.replaceAll(/\D/g, ''),
    externalId: request.externalId,
  })
  const playerId = created.body.id

  const found = await operator.get(`/players?externalId=${request.externalId}`)
  t.same(found.body, { data: [created.body] })

  const submitted = await operator.post(`/players/${playerId}/kyc/submissions`, {
    documentType: 'rg',
    reference: 'doc-1',
  })
  t.equal(submitted.status, 201)
  t.equal((await operator.get(`/players/${playerId}/kyc`)).body.kycStatus, 'em_analise')
  const decided = await operator.post(`/sandbox/players/${playerId}/kyc/decision`, { status: 'aprovado' })
  t.equal(decided.status, 200)
  t.equal((await operator.get(`/players/${playerId}/kyc`)).body.kycStatus, 'aprovado')

  const deposit = await createDeposit(operator, playerId, '150.00')
  t.match(deposit, { status: 'pending', amount: '150.00' })
  t.equal(await balanceOf(operator, playerId), '0.00')
  const confirmed = await operator.post(`/deposits/${deposit.id}/confirm`)
  t.equal(confirmed.status, 200)
  t.match(confirmed.body, { id: deposit.id, status: 'confirmed' })
  t.equal(await balanceOf(operator, playerId), '150.00')
  t.match(await statementOf(operator, playerId), [{ type: 'DEPOSIT', amount: '150.00' }])
})

t.test('a withdrawal is debited when it is paid, and not before', async (t) => {
  const { id: playerId } = await register(operator)
  await operator.post(`/sandbox/players/${playerId}/kyc/decision`, { status: 'aprovado' })
  const deposit = await createDeposit(operator, playerId, '100.00')
  await operator.post(`/deposits/${deposit.id}/confirm`)

  const body = { amount: '40.00', currency: 'BRL', method: 'pix', destination: 'ana@example.com' }
  const requested = await operator.post(`/players/${playerId}/withdrawals`, body)
  t.equal(requested.status, 201)
  t.equal(requested.body.status, 'under_review')
  const decision = `/sandbox/withdrawals/${requested.body.id}/decision`
  t.match((await operator.get(`/players/${playerId}/wallet`)).body, { available: '100.00', withdrawable: '60.00' })

  t.equal((await operator.post(decision, { decision: 'approve' })).body.status, 'approved')
  t.match((await operator.get(`/players/${playerId}/wallet`)).body, { available: '100.00', withdrawable: '60.00' })
  t.match(await operator.post(`/withdrawals/${requested.body.id}/cancel`), {
    status: 409,
    body: { error: { code: 'WITHDRAWAL_NOT_CANCELLABLE' } },
  })
  t.equal((await operator.post(decision, { decision: 'pay' })).body.status, 'paid')
  t.match((await operator.get(`/players/${playerId}/wallet`)).body, { available: '60.00', withdrawable: '60.00' })
})

t.test('a statement is paged without a gap or a repetition, and sums to the balance', async (t) => {
  const { id: playerId } = await register(operator)
  for (const amount of ['1.00', '2.50', '3.33', '4.00', '5.01']) {
    const deposit = await createDeposit(operator, playerId, amount)
    await operator.post(`/deposits/${deposit.id}/confirm`)
  }
  const items = await statementOf(operator, playerId, 2)
  t.same(
    items.map((item) => item.amount),
    ['5.01', '4.00', '3.33', '2.50', '1.00'],
  )
  t.equal(sumOf(items.map((item) => item.amount)), sumOf([await balanceOf(operator, playerId)]))
})
