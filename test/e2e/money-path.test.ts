import { sharedSystem } from '@backoffice/test-kit'
import t from 'tap'
import {
  balanceOf,
  busyOperator,
  createDeposit,
  expectStatus,
  fund,
  playerRequest,
  register,
  statementOf,
  sumOf,
} from '../journey.ts'

const system = await sharedSystem(t)
const operator = await busyOperator(system)
t.teardown(() => operator.close())

const request = (amount: string) => ({ amount, currency: 'BRL', method: 'pix', destination: 'ana@example.com' })
const decide = (id: string, decision: string) => operator.post(`/sandbox/withdrawals/${id}/decision`, { decision })
const walletOf = async (playerId: string) => expectStatus(await operator.get(`/players/${playerId}/wallet`), 200)

/** A player with approved KYC and this much money. */
async function richPlayer(amount: string): Promise<string> {
  const { id } = await register(operator)
  expectStatus(await operator.post(`/sandbox/players/${id}/kyc/decision`, { status: 'aprovado' }), 200)
  await fund(operator, id, amount)
  return id
}

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
  const playerId = await richPlayer('100.00')
  const requested = expectStatus(await operator.post(`/players/${playerId}/withdrawals`, request('40.00')), 201)
  t.equal(requested.status, 'under_review')
  t.match(await walletOf(playerId), { available: '100.00', withdrawable: '60.00' })
  t.equal((await decide(requested.id, 'approve')).body.status, 'approved')
  t.match(await walletOf(playerId), { available: '100.00', withdrawable: '60.00' })
  t.match(await operator.post(`/withdrawals/${requested.id}/cancel`), {
    status: 409,
    body: { error: { code: 'WITHDRAWAL_NOT_CANCELLABLE' } },
  })
  t.equal((await decide(requested.id, 'pay')).body.status, 'paid')
  t.match(await walletOf(playerId), { available: '60.00', withdrawable: '60.00' })
})

t.test('a statement is paged without a gap or a repetition, and sums to the balance', async (t) => {
  const { id: playerId } = await register(operator)
  for (const amount of ['1.00', '2.50', '3.33', '4.00', '5.01']) {
    await fund(operator, playerId, amount)
  }
  const items = await statementOf(operator, playerId, 2)
  t.same(
    items.map((item) => item.amount),
    ['5.01', '4.00', '3.33', '2.50', '1.00'],
  )
  t.equal(sumOf(items.map((item) => item.amount)), sumOf([await balanceOf(operator, playerId)]))
})

t.test('rejecting or cancelling gives the money free, and nothing is in the ledger', async (t) => {
  const playerId = await richPlayer('20.00')
  const create = async () => expectStatus(await operator.post(`/players/${playerId}/withdrawals`, request('20')), 201)
  const rejected = await create()
  t.equal((await walletOf(playerId)).withdrawable, '0.00')
  t.match(expectStatus(await decide(rejected.id, 'reject'), 200), { status: 'rejected', paidAt: null })
  const cancelled = await create()
  t.match(expectStatus(await operator.post(`/withdrawals/${cancelled.id}/cancel`), 200), { status: 'cancelled' })
  t.match(await walletOf(playerId), { available: '20.00', withdrawable: '20.00' })
  t.equal((await statementOf(operator, playerId)).length, 1)
})

t.test('without approved KYC there is no withdrawal and no game; with it a session opens a page', async (t) => {
  const { id } = await register(operator)
  await fund(operator, id, '10.00')
  const refused = await operator.post(`/players/${id}/withdrawals`, request('1.00'))
  t.match(refused, { status: 403, body: { error: { code: 'KYC_NOT_APPROVED' } } })
  const { data: games } = expectStatus(await operator.get('/games'), 200)
  t.ok(games.length > 0)
  const gameId = games[0].id
  expectStatus(await operator.post(`/sandbox/players/${id}/kyc/decision`, { status: 'aprovado' }), 200)
  const session = await operator.post(`/players/${id}/game-sessions`, { gameId }, { idempotencyKey: null })
  t.match(expectStatus(session, 201), { playerId: id, gameId, mode: 'demo', gameUrl: /^https?:\/\// })
  const page = await fetch(session.body.gameUrl)
  t.equal(page.status, 200)
  t.match(page.headers.get('content-type'), 'text/html')
})
