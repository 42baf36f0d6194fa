import { defined, operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { allPages, holdOpen, refusal, type TeamUser } from '@backoffice/test-kit'
import t from 'tap'
import { moneyPath } from '../money-path.ts'

const { withdrawalQueue, showWithdrawal } = operations.payments
const path = await moneyPath(t, { config: { payments: { PAY_ALONE_UP_TO: '5.00' } } })
const { brandId } = path.scope
const team = path.bed.team('alice')
const admin = path.bed.sql('admin')

// There is no gateway here, which knows the names of operators.
const undecided = {
  ...{ version: 1, settling: false, approvedBy: null, operatorName: null, playerName: 'Ana Souza' },
  facts: {
    ...{ firstWithdrawal: true, destinationUsedBefore: false, otherPlayers: { count: 0, players: [] } },
    ...{ deposits30Days: { count: 1, amount: '100.00' }, withdrawals30Days: { count: 0, amount: '0.00' } },
  },
}

t.test('the review queue shows each withdrawal with the player and the balance, oldest first', async (t) => {
  const playerId = await path.newPlayerWith('100.00')
  const first = await path.requestWithdrawal(playerId)
  const second = await path.requestWithdrawal(playerId)
  await team.call(operations.players.selfExcludePlayer, { input: { playerId, until: null } })
  const { data } = await team.call(withdrawalQueue, { input: { brandId, limit: 10 } })
  const player = { playerStatus: 'autoexcluido', kycStatus: 'aprovado' }
  const balance = { available: '100.00', withdrawable: '80.00' }
  t.same(
    data,
    [first, second].map((one) => ({ ...one, ...path.scope, ...undecided, ...player, ...balance, paymentFile: null })),
  )
})

t.test('it pages, filters by brand and status, and crosses brands when none is named', async (t) => {
  const production = path.in({ environment: 'production' })
  const elsewhere = await production.requestWithdrawal(await production.newPlayerWith('100.00'))
  const list = async (input: object) =>
    (await team.call(withdrawalQueue, { input: { limit: 10, ...input } })).data.map(({ id }) => id)
  const all = await list({})
  t.equal(all.length, 3)
  for (const [filter, found] of [
    [{ limit: 1 }, all.slice(0, 1)],
    [{ after: all[0] }, all.slice(1)],
    [{ brandId: production.scope.brandId }, [elsewhere.id]],
    [{ environment: 'production' }, [elsewhere.id]],
    [{ environment: 'sandbox', limit: 1, after: all[0] }, all.slice(1, 2)],
    [{ operatorId: path.scope.operatorId }, all],
    [{ operatorId: 'op_other' }, []],
  ] as const)
    t.same(await list(filter), found, JSON.stringify(filter))
  await path.decide('alice', all[0] ?? '', 'approve')
  t.same(await list({ status: 'approved' }), [all[0]])
  t.same(await list({}), all.slice(1))
})

t.test('what somebody may pay is without what they approved themselves, where that takes two people', async (t) => {
  const brand = path.in({ environment: 'production', brandId: newId('brd') })
  const { brandId } = brand.scope
  const playerId = await brand.newPlayerWith('1000.00')
  const approvedBy = async (person: 'alice' | 'bob', amount: string) => {
    const { id } = await brand.requestWithdrawal(playerId, { amount })
    await path.decide(person, id, 'approve')
    return id
  }
  const [own, small, others] = [
    await approvedBy('alice', '400.00'),
    await approvedBy('alice', '5.00'),
    await approvedBy('bob', '400.00'),
  ]
  const payable = async (user: TeamUser, input: object = {}) => {
    const asked = { brandId, status: 'approved', payable: true, limit: 10, ...input } as const
    return (await path.bed.team(user).call(withdrawalQueue, { input: asked })).data.map(({ id }) => id)
  }
  t.same(await payable('alice'), [small, others])
  t.same(await payable('alice', { limit: 1, after: small }), [others])
  t.same(await payable('bob'), [own, small])
  t.same(await payable('alice', { payable: false }), [own, small, others])
  await admin.query(`begin; set local session_replication_role = replica;
    update payments.withdrawal set approved_by = 'another name of hers' where id = '${own}'; commit`)
  t.same(await payable('alice'), [small, others], 'by the account as well')
})

t.test('it is read by age or by amount, either way, and page by page where amounts are the same', async (t) => {
  const brand = path.in({ brandId: newId('brd') })
  const playerId = await brand.newPlayerWith('100.00')
  const ids: string[] = []
  for (const amount of ['20.00', '5.00', '20.00', '10.00'])
    ids.push((await brand.requestWithdrawal(playerId, { amount })).id)
  const [twenty, five, twentyToo, ten] = ids
  const { brandId } = brand.scope
  for (const [order, expected] of [
    [undefined, ids],
    ['oldest', ids],
    ['newest', ids.toReversed()],
    ['largest', [twentyToo, twenty, ten, five]],
    ['smallest', [five, ten, twenty, twentyToo]],
  ] as const) {
    const asked = { brandId, ...(order === undefined ? {} : { order }) }
    t.same(
      (await team.call(withdrawalQueue, { input: { ...asked, limit: 10 } })).data.map(({ id }) => id),
      expected,
    )
    const walked = await allPages((after) =>
      team.call(withdrawalQueue, { input: { ...asked, limit: 1, ...defined({ after }) } }),
    )
    t.same(
      walked.map(({ id }) => id),
      expected,
      `${order} page by page`,
    )
  }
})

t.test('showWithdrawal finds a withdrawal and its brand by the id alone', async (t) => {
  const requested = await path.requestWithdrawal(await path.newPlayerWith('100.00'), { destination: 'of nobody else' })
  const shown = await team.call(showWithdrawal, { input: { withdrawalId: requested.id } })
  const balance = { available: '100.00', withdrawable: '90.00', reserved: '10.00' }
  const decision = { balance, payTakesTwo: false, isReserved: true, approval: null }
  t.match(shown, { ...requested, ...path.scope, ...undecided, ...decision })
  t.equal(shown.transitions.length, 1)
  t.equal(await refusal(team.call(showWithdrawal, { input: { withdrawalId: 'wdr_unknown' } })), 'WITHDRAWAL_NOT_FOUND')
})

t.test('support reads masked where money is paid to, and who read it is in the trail', async (t) => {
  const { listAudit, listWithdrawals } = operations.payments
  const playerId = await path.newPlayerWith('100.00')
  const destination = '529.982.247-25'
  const { id: withdrawalId } = await path.requestWithdrawal(playerId, { destination })
  const readBy = async (user: TeamUser) => {
    const member = path.bed.team(user)
    const shown = await member.call(showWithdrawal, { input: { withdrawalId } })
    const { data: listed } = await member.call(listWithdrawals, { input: { playerId, limit: 10 } })
    const { data: queued } = await member.call(withdrawalQueue, { input: { limit: 200 } })
    return [shown, listed[0], queued.find(({ id }) => id === withdrawalId)].map((read) => read?.destination)
  }
  t.same(await readBy('support'), Array(3).fill('********25'))
  for (const user of ['finance', 'compliance', 'auditor'] as const)
    t.same(await readBy(user), Array(3).fill(destination))
  const { data } = await path.bed.team('auditor').call(listAudit, { input: { actor: 'support', limit: 10 } })
  t.same(
    data.map(({ operation, subject, outcome }) => [operation, subject, outcome]),
    [
      ['withdrawalQueue', null, 'done'],
      ['listWithdrawals', playerId, 'done'],
      ['showWithdrawal', withdrawalId, 'done'],
    ],
  )
})

const factsOf = async (withdrawalId: string) => (await team.call(showWithdrawal, { input: { withdrawalId } })).facts

const nothing = { count: 0, amount: '0.00' }

const forget = (playerId: string) =>
  path.bed.rpc.call(operations.payments.forgetDestinations, { scope: path.scope, input: { playerId } })

async function pay(withdrawalId: string): Promise<void> {
  await path.decide('alice', withdrawalId, 'approve')
  await path.decide('bob', withdrawalId, 'pay')
}

t.test('a first withdrawal is called that, until one of the player was paid before', async (t) => {
  const playerId = await path.newPlayerWith('100.00')
  const first = await path.requestWithdrawal(playerId)
  const second = await path.requestWithdrawal(playerId, { destination: 'Ana@Example.com' })
  const other = await path.requestWithdrawal(playerId, { destination: 'elsewhere' })
  const deposits30Days = { count: 1, amount: '100.00' }
  const isFirst = { firstWithdrawal: true, destinationUsedBefore: false, deposits30Days, withdrawals30Days: nothing }
  for (const { id } of [first, second]) t.match(await factsOf(id), isFirst)
  await pay(first.id)
  const later = { firstWithdrawal: false, deposits30Days, withdrawals30Days: { count: 1, amount: '10.00' } }
  t.match(await factsOf(second.id), { ...later, destinationUsedBefore: true }, 'the same one, in another case')
  t.match(await factsOf(other.id), { ...later, destinationUsedBefore: false })
  t.match(await factsOf(first.id), isFirst, 'of the one that was paid nothing has changed')
  t.equal((await team.call(showWithdrawal, { input: { withdrawalId: first.id } })).approvedBy, 'alice')
})

t.test('what was not paid, not confirmed, long ago or of another player does not count', async (t) => {
  const playerId = await path.newPlayerWith('100.00')
  await pay((await path.requestWithdrawal(await path.newPlayerWith('100.00'), { destination: 'a key' })).id)
  const rejected = await path.requestWithdrawal(playerId, { destination: 'a key' })
  await path.decide('alice', rejected.id, 'reject', { reason: 'not now' })
  await path.createDeposit(playerId)
  await path.fail((await path.createDeposit(playerId)).id)
  const old = await path.createDeposit(playerId)
  await path.confirm(old.id)
  const age = `update payments.deposit set created_at = created_at - interval '31 days' where id = $1`
  await admin.query(age, [old.id])
  const { id } = await path.requestWithdrawal(playerId, { destination: 'a key' })
  const deposits30Days = { count: 1, amount: '100.00' }
  t.match(await factsOf(id), {
    ...{ firstWithdrawal: true, destinationUsedBefore: false, deposits30Days, withdrawals30Days: nothing },
  })
})

t.test('a destination that was anonymised is none that was used before', async (t) => {
  const playerId = await path.newPlayerWith('100.00')
  await pay((await path.requestWithdrawal(playerId)).id)
  await forget(playerId)
  const { id } = await path.requestWithdrawal(playerId, { destination: 'anonymised' })
  t.match(await factsOf(id), { firstWithdrawal: false, destinationUsedBefore: false })
})

t.test('the queue shows the same of each withdrawal', async (t) => {
  const { data } = await team.call(withdrawalQueue, { input: { limit: 50 } })
  t.ok(data.length >= 4)
  t.ok(data.some(({ facts }) => facts?.destinationUsedBefore))
  for (const { id, facts } of data) t.same(facts, await factsOf(id))
})

/** A player with a withdrawal to this destination. */
async function paidTo(destination: string, where = path): Promise<{ readonly playerId: string; readonly id: string }> {
  const playerId = await where.newPlayerWith('100.00')
  const { id } = await where.requestWithdrawal(playerId, { destination })
  return { playerId, id }
}
const named = (...playerIds: readonly string[]) =>
  playerIds.toSorted().map((playerId) => ({ playerId, playerName: 'Ana Souza' }))
const othersOf = async (withdrawalId: string) => (await factsOf(withdrawalId)).otherPlayers

t.test('four players who are paid to one key are said of each other, in the queue as in the case', async (t) => {
  const keys = ['Same-Key@example.com', 'same-key@example.com', ' same-key@example.com', 'same-key@example.com']
  const four = []
  for (const key of keys) four.push(await paidTo(key))
  await path.requestWithdrawal(four[0]?.playerId ?? '', { destination: 'same-key@example.com' })
  const { data } = await team.call(withdrawalQueue, { input: { limit: 200 } })
  for (const { id, playerId } of four) {
    const others = four.filter((one) => one.playerId !== playerId)
    const expected = { count: 3, players: named(...others.map((one) => one.playerId)) }
    t.same(await othersOf(id), expected)
    const queued = data.find((row) => row.id === id)
    t.same(queued?.facts.otherPlayers, expected)
    t.equal(queued?.playerName, 'Ana Souza')
  }
})

t.test('a Pix key is one destination however it is written, and is shown as it was written', async (t) => {
  const [first, second] = [await paidTo('111.444.777-35'), await paidTo('111 444\u034f 777 35')]
  const shown = await team.call(operations.payments.showWithdrawal, { input: { withdrawalId: second.id } })
  t.equal(shown.destination, '111 444\u034f 777 35')
  t.same(await othersOf(second.id), { count: 1, players: named(first.playerId) })
})

t.test('the same key in another brand or environment is not counted, nor one that nobody saw', async (t) => {
  const key = 'one key of many brands'
  const here = await paidTo(key)
  for (const elsewhere of [{ environment: 'production' as const }, { operatorId: 'op_other', brandId: 'brd_other' }])
    await paidTo(key, path.in(elsewhere))
  // The wallet refuses it, so it never was a withdrawal.
  const poor = path.requestWithdrawal(await path.newPlayer(), { destination: key })
  t.equal(await refusal(poor), 'INSUFFICIENT_FUNDS')
  t.same(await othersOf(here.id), { count: 0, players: [] })
})

t.test('what became of the others does not matter, until they are anonymised', async (t) => {
  const key = 'a key that was rejected'
  const [rejected, cancelled, here] = [await paidTo(key), await paidTo(key), await paidTo(key)]
  await path.decide('alice', rejected.id, 'reject', { reason: 'not now' })
  await path.cancel(cancelled.id)
  t.same(await othersOf(here.id), { count: 2, players: named(rejected.playerId, cancelled.playerId) })
  await forget(rejected.playerId)
  t.same(await othersOf(here.id), { count: 1, players: named(cancelled.playerId) })
})

t.test('of many others 20 are counted and 5 named, and one whom players do not know has no name', async (t) => {
  const here = await paidTo('a key of many')
  await admin.query(
    `insert into payments.withdrawal (id, operation_id, brand_id, operator_id, environment, time_zone, player_id, amount, currency,
       method, destination, sealed_destination, destination_digest, status, version, created_at, updated_at)
     select id || n, operation_id || n, brand_id, operator_id, environment, time_zone, 'ply_many' || lpad((n % 30)::text, 2, '0'),
       amount, currency, method, destination, sealed_destination, destination_digest, 'cancelled', 2, created_at, updated_at
     from payments.withdrawal, generate_series(1, 90) n where id = $1`,
    [here.id],
  )
  const players = [0, 1, 2, 3, 4].map((n) => ({ playerId: `ply_many0${n}`, playerName: null }))
  t.same(await othersOf(here.id), { count: 20, players })
  // What is sealed for another row opens for none.
  await admin.query(
    `update payments.withdrawal set destination = 'anonymised', sealed_destination = null, destination_digest = null
     where player_id like 'ply_many%'`,
  )
})

t.test('withdrawals of before the digest are found once stored data were sealed again', async (t) => {
  const [before, here] = [await paidTo('an old key'), await paidTo('an old key')]
  const seal = (input: object) => team.call(operations.payments.sealStoredData, { input })
  // There was none, or it was of another form of the key.
  for (const digest of ['null', "destination_digest || 'x'"]) {
    const old = `update payments.withdrawal set destination_digest = ${digest} where id = $1`
    await admin.query(old, [before.id])
    t.same(await othersOf(here.id), { count: 0, players: [] })
    t.match(await seal({}), { sealed: 1, nextCursor: null })
    t.same(await othersOf(here.id), { count: 1, players: named(before.playerId) })
    t.match(await seal({}), { sealed: 0 }, 'once is enough')
  }
})

t.test('a digest that outlived its destination goes when stored data are sealed again', async (t) => {
  const [forgotten, here] = [await paidTo('a forgotten key'), await paidTo('a forgotten key')]
  await path.cancel(forgotten.id)
  const old = `update payments.withdrawal set destination = 'anonymised', sealed_destination = null where id = $1`
  await admin.query(old, [forgotten.id])
  t.match(await othersOf(here.id), { count: 1 })
  await team.call(operations.payments.sealStoredData, { input: {} })
  t.same(await othersOf(here.id), { count: 0, players: [] })
})

t.test('a case does not wait for a wallet that hangs', async (t) => {
  const { id } = await paidTo('while the wallet hangs')
  const { rollback } = await holdOpen(admin, 'lock table wallet.account in access exclusive mode')
  const shown = await team.call(showWithdrawal, { input: { withdrawalId: id } })
  t.match(shown, { id, balance: null, playerName: 'Ana Souza' })
  await rollback()
})

t.test('without the wallet and players a case is shown, and says that they are missing', async (t) => {
  const { id, playerId } = await paidTo('while others are away')
  const show = () => team.call(showWithdrawal, { input: { withdrawalId: id } })
  const { wallet, players } = path.bed.services
  await wallet.drain()
  t.match(await show(), { id, balance: null, playerName: 'Ana Souza' })
  await players.drain()
  t.match(await show(), { id, playerId, balance: null, playerName: null, facts: { firstWithdrawal: true } })
})
