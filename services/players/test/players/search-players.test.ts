import assert from 'node:assert/strict'
import { type Input, operations } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { eventually, newPlayer, refusal, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { players } from '../../src/service.ts'

const { registerPlayer, searchPlayers, getPlayerStanding, listAudit, sealStoredData } = operations.players
const { setPlayerStatus, selfExcludePlayer, anonymisePlayer } = operations.players

const keysOf = (...ids: readonly string[]) =>
  ids.map((id) => `${id}:${Buffer.alloc(32, id).toString('base64')}`).join(',')
/** Changed before a restart. */
const settings = { MASTER_KEYS: keysOf('first') }

const bed = await testBed(t, { players, wallet, payments }, { config: { players: settings } })
const alice = bed.team('alice')
const admin = bed.sql('admin')
const scope = bed.scope()
const production = bed.scope({ environment: 'production' })
const elsewhere = bed.scope({ operatorId: 'op_other', brandId: 'brd_other' })

const register = async (overrides: Record<string, string>, there = scope) =>
  (await bed.rpc.call(registerPlayer, { scope: there, input: newPlayer(overrides) })).id
const search = async (by: Partial<Input<typeof searchPlayers>>) =>
  (await alice.call(searchPlayers, { input: { limit: 20, ...by } })).data.map(({ id }) => id)
const reason = 'a player calls'

/** With other settings, as a roll-out leaves it. */
async function restart(changes: Partial<typeof settings>): Promise<void> {
  Object.assign(settings, changes)
  await bed.services.players.drain()
  Object.assign(bed.services, { players: await bed.start('players') })
}

async function sealAll(): Promise<number> {
  let total = 0
  for (let after: string | null | undefined; after !== null; ) {
    const input = after === undefined ? {} : { after }
    const { sealed, nextCursor } = await alice.call(sealStoredData, { input })
    total += sealed
    after = nextCursor
  }
  return total
}

const joao = {
  ...{ name: 'João da Silva', cpf: '111.444.777-35', email: 'Joao.Silva@example.com' },
  phone: '+5511987654321',
}
const first = await register({ ...joao, externalId: 'same' })
const second = await register({ ...joao, externalId: 'same' }, production)
const third = await register({ ...joao, name: 'JOAO DA SILVA JÚNIOR', externalId: 'same' }, elsewhere)
const maria = await register({ name: "Maria D'Ávila-Souza", email: 'maria@example.com' })

t.test('players of all operators are found by externalId and by id, newest first', async (t) => {
  t.same(await search({ externalId: 'same' }), [third, second, first])
  t.same(await search({ playerId: second }), [second])
  t.same(await search({ externalId: 'sam' }), [], 'the whole one')
  t.same(await search({ playerId: 'ply_nobody' }), [])
})

t.test('a name is found by its words and how they begin, without case and accents', async (t) => {
  for (const name of ['joão da silva', 'JOAO SILVA', 'sil jo', 'Joa\u0303o'])
    t.same(await search({ name }), [third, second, first], name)
  t.same(await search({ name: 'joao junior' }), [third])
  for (const name of ["d'avila", 'souza maria', 'AVILA-SOU']) t.same(await search({ name }), [maria], name)
  for (const name of ['oao', 'maria silva', "mar':* | 'joao", 'vila']) t.same(await search({ name }), [], name)
})

t.test('a letter with a stroke is found as it is, and without it', async (t) => {
  const lukasz = await register({ name: 'Łukasz Ørsted' })
  for (const name of ['lukasz', 'ŁUKASZ', 'ørs', 'orsted luk']) t.same(await search({ name }), [lukasz], name)
})

t.test('a CPF is found with punctuation or without, an e-mail address in any case, each as a whole', async (t) => {
  for (const cpf of [joao.cpf, '11144477735']) t.same(await search({ cpf, reason }), [third, second, first], cpf)
  for (const email of [joao.email, 'joao.silva@EXAMPLE.com'])
    t.same(await search({ email, reason }), [third, second, first])
  t.same(await search({ email: 'silva@example.com', reason }), [])
  t.same(await search({ email: 'maria@example.com', reason }), [maria])
})

t.test('a phone is found as a whole, with the code of its country or, in Brazil, without', async (t) => {
  for (const phone of ['+5511987654321', '5511987654321', '11987654321'])
    t.same(await search({ phone, reason }), [third, second, first], phone)
  for (const phone of ['+1987654321', '1198765432', '+3511987654321'])
    t.same(await search({ phone, reason }), [], phone)
  const abroad = await register({ phone: '14155552671' })
  t.same(await search({ phone: '+14155552671', reason }), [abroad])
})

t.test('the search is narrowed to an operator, a brand or an environment, and read page by page', async (t) => {
  const name = 'joao'
  t.same(await search({ name, environment: 'production' }), [second])
  t.same(await search({ name, environment: 'sandbox' }), [third, first])
  t.same(await search({ name, operatorId: 'op_other' }), [third])
  t.same(await search({ name, brandId: scope.brandId }), [first])
  const page = await alice.call(searchPlayers, { input: { name, limit: 2 } })
  t.equal(page.nextCursor, second)
  t.same(await search({ name, before: second }), [first])
})

t.test('what is found is masked, also when the whole CPF was given', async (t) => {
  const { data } = await alice.call(searchPlayers, { input: { cpf: joao.cpf, reason, limit: 1 } })
  t.match(data, [{ cpf: '*********35', email: 'J***@example.com', birthDate: '1990-**-**', operatorName: null }])
})

t.test('a search by CPF, e-mail or phone needs a reason and is recorded, without what was searched', async (t) => {
  const recorded = async () =>
    (await alice.call(listAudit, { input: { limit: 100 } })).data.filter(
      ({ operation, reason }) => operation === 'searchPlayers' && reason !== null,
    )
  const before = (await recorded()).length
  for (const by of [{ cpf: joao.cpf }, { email: joao.email }, { phone: joao.phone }])
    await t.rejects(search(by), { code: 'VALIDATION_ERROR', details: { issues: [{ path: '/reason' }] } })
  await search({ name: 'joao' })
  t.equal((await recorded()).length, before, 'a search by name needs none')
  await search({ cpf: joao.cpf, reason: 'complaint 9' })
  await search({ phone: joao.phone, reason: 'complaint 9' })
  const [byPhone, byCpf, ...others] = await recorded()
  t.equal(others.length, before)
  t.match(byPhone, { actor: 'alice', reason: 'complaint 9', input: { phone: '' } })
  t.match(byCpf, { actor: 'alice', reason: 'complaint 9', input: { cpf: '', reason: 'complaint 9', limit: 20 } })
  const { rows } = await admin.query(
    `select from players.audit_entry where input::text ~* '44477735|joao[.]silva|98765'`,
  )
  t.same(rows, [])
})

t.test('the trail, which is kept for good, has no name and no id of the operator that was searched', async (t) => {
  await search({ name: 'Zuleika Quirino' })
  await search({ externalId: 'zuleika-1' })
  const { rows } = await admin.query(`select from players.audit_entry e where e::text ~* 'zuleika|quirino'`)
  t.same(rows, [])
  const { data } = await alice.call(listAudit, { input: { limit: 2 } })
  t.match(data, [
    { subject: null, input: { externalId: '' } },
    { subject: null, input: { name: '' } },
  ])
})

t.test('a search is by exactly one thing', async (t) => {
  for (const by of [{}, { name: 'joao', playerId: first }, { cpf: joao.cpf, email: joao.email, reason }])
    t.equal(await refusal(search(by)), 'VALIDATION_ERROR')
  t.equal(await refusal(search({ name: '--' })), 'VALIDATION_ERROR')
  t.equal(await refusal(search({ cpf: '123', reason })), 'VALIDATION_ERROR')
})

const found = async () => {
  const byCpf = await search({ cpf: joao.cpf, reason })
  assert.deepEqual(await search({ phone: joao.phone, reason }), byCpf)
  return byCpf
}

t.test('what is searched is a keyed digest: the table shows neither CPF nor e-mail address', async (t) => {
  const { rows } = await admin.query('select * from players.player where id = $1', [first])
  t.notMatch(JSON.stringify(rows), /44477735|joao.silva@|98765/i)
  t.match(rows, [
    {
      cpf: '',
      email: '',
      cpf_digest: /^first\.[\w-]{22}$/,
      email_digest: /^first\.[\w-]{22}$/,
      phone_digest: /^first\.[\w-]{22}$/,
    },
  ])
})

t.test('players are found while the master key is replaced, and afterwards without the old one', async (t) => {
  const until = new Date(Date.now() + 3_600_000).toISOString()
  await alice.call(selfExcludePlayer, { input: { playerId: first, until } })
  await restart({ MASTER_KEYS: keysOf('second', 'first') })
  const late = await register(joao)
  t.same(await eventually(found), [late, third, second, first], 'under either key')
  const standing = () => bed.rpc.call(getPlayerStanding, { scope, input: { playerId: late } })
  t.equal((await standing()).status, 'autoexcluido', 'and a self-exclusion holds under either')
  t.equal((await sealAll()) >= 4, true)
  t.equal(await sealAll(), 0, 'nothing is sealed twice')
  await restart({ MASTER_KEYS: keysOf('second') })
  t.same(await found(), [late, third, second, first])
  t.equal((await standing()).status, 'autoexcluido')
  await admin.query('update players.player set self_excluded_until = now() where id = $1', [first])
})

t.test('what was stored without digests is found once the stored data are sealed', async (t) => {
  await admin.query(
    'update players.player set cpf_digest = null, email_digest = null, phone_digest = null where id = $1',
    [first],
  )
  t.notOk((await found()).includes(first))
  await sealAll()
  t.ok((await found()).includes(first))
})

t.test('an anonymised player is found by nothing that was known of the person', async (t) => {
  await alice.call(setPlayerStatus, { input: { playerId: first, status: 'encerrado', reason } })
  await alice.call(anonymisePlayer, { input: { playerId: first, reason } })
  for (const by of [
    { cpf: joao.cpf, reason },
    { email: joao.email, reason },
    { phone: joao.phone, reason },
    { name: 'joao' },
    { externalId: 'same' },
  ])
    t.notOk((await search(by)).includes(first))
  const digests = async () =>
    (await admin.query('select cpf_digest, email_digest, phone_digest from players.player where id = $1', [first])).rows
  t.same(await digests(), [{ cpf_digest: null, email_digest: null, phone_digest: null }])
  await sealAll()
  t.same(await digests(), [{ cpf_digest: null, email_digest: null, phone_digest: null }])
})
