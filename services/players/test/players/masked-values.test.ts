import { type Input, operations, type Reply } from '@backoffice/contracts'
import { newPlayer, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { players } from '../../src/service.ts'

const { registerPlayer, showPlayer, listPlayers, setPlayerStatus, exportPlayer, listAudit } = operations.players

const bed = await testBed(t, { players, wallet })
const admin = bed.sql('admin')
const scope = bed.scope()
const person = { ...newPlayer({ cpf: '529.982.247-25' }), phone: '+5511987654321' }
const { id: playerId } = await bed.rpc.call(registerPlayer, { scope, input: person })
const alice = bed.team('alice')
const reads = async () =>
  (await alice.call(listAudit, { input: { subject: playerId, limit: 50 } })).data.filter(
    ({ operation }) => operation === 'showPlayer',
  )

const maskedValues = { cpf: '*********25', email: 'a***@example.com', phone: '**********4321', birthDate: '1990-**-**' }

t.test('the team reads CPF, e-mail, phone and birth date masked, in every reply', async (t) => {
  const shown = await alice.call(showPlayer, { input: { playerId } })
  t.match(shown, { ...maskedValues, name: person.name, externalId: person.externalId })
  const { data } = await alice.call(listPlayers, { input: { brandId: scope.brandId, limit: 10 } })
  t.match(data, [maskedValues])
  t.match(await reads(), [{ actor: 'alice', operation: 'showPlayer', subject: playerId, reason: null }])
})

t.test('a command shows and keeps masked values only', async (t) => {
  const input = { playerId, status: 'suspenso', reason: 'complaint 7' } as const
  const operationId = 'opn_masked'
  t.match(await alice.call(setPlayerStatus, { input, operationId }), maskedValues)
  t.match(await alice.call(setPlayerStatus, { input, operationId }), maskedValues, 'the stored reply as well')
  const { rows } = await admin.query('select reply::text from players.operation where operation_id = $1', [operationId])
  t.notMatch(rows[0].reply, /52998224725|ana@example|87654321|1990-05-17/)
})

t.test('values are shown in full for a reason, and the read is recorded: who, whom and why', async (t) => {
  const input = { playerId, unmask: true, reason: 'the player asks for a correction' }
  const shown = await bed.team('bob').call(showPlayer, { input })
  t.match(shown, { cpf: '52998224725', email: person.email, phone: person.phone, birthDate: person.birthDate })
  t.match(await reads(), [{ actor: 'bob', subject: playerId, reason: input.reason, input }])
})

t.test('who only reads along is not shown them for any reason, and that they asked is recorded', async (t) => {
  const input = { playerId, unmask: true, reason: 'a friend asks' }
  for (const user of ['support', 'integration'] as const) {
    const { code, details } = await bed
      .team(user)
      .call(showPlayer, { input })
      .catch((error) => error)
    t.same({ code, details }, { code: 'ROLE_REQUIRED', details: { roles: ['compliance', 'finance', 'auditor'] } })
    t.match(await bed.team(user).call(showPlayer, { input: { playerId } }), maskedValues)
  }
  const { data } = await alice.call(listAudit, { input: { actor: 'support', limit: 10 } })
  t.match(data.at(-1), { operation: 'showPlayer', outcome: 'ROLE_REQUIRED', subject: playerId, reason: input.reason })
})

t.test('without a reason nothing is shown, not even masked', async (t) => {
  const before = (await reads()).length
  await t.rejects(alice.call(showPlayer, { input: { playerId, unmask: true } }), {
    code: 'VALIDATION_ERROR',
    details: { in: 'body', issues: [{ path: '/reason' }] },
  })
  t.equal((await reads()).length, before)
})

t.test('a read that cannot be recorded is not answered', async (t) => {
  await admin.query('alter table players.audit_entry rename to audit_entry_away')
  t.teardown(() => admin.query('alter table if exists players.audit_entry_away rename to audit_entry'))
  const input = { playerId, unmask: true, reason: 'a court asks' }
  await t.rejects(alice.call(showPlayer, { input }))
  await t.rejects(alice.call(showPlayer, { input: { playerId } }), 'masked or not')
  await admin.query('alter table players.audit_entry_away rename to audit_entry')
})

const register = () => bed.rpc.call(registerPlayer, { scope, input: newPlayer() })
const reason = 'the player asked for it'

t.test("every row about the player is exported once, page by page, and nobody else's", async (t) => {
  const [{ id: playerId, cpf }, { id: other }] = [await register(), await register()]
  for (const id of [playerId, other]) {
    await admin.query(
      `insert into players.kyc_submission select 'kyc_' || $1 || lpad(n::text, 3, '0'), $1, 'rg', 'doc-' || n, now()
       from generate_series(1, 450) n`,
      [id],
    )
  }
  const rows: Reply<typeof exportPlayer>['rows'] = []
  const sizes: number[] = []
  for (let after: string | null | undefined; after !== null; ) {
    const input = { playerId, reason, ...(after === undefined ? {} : { after }) }
    const page = await alice.call(exportPlayer, { input })
    rows.push(...page.rows)
    sizes.push(page.rows.length)
    after = page.nextCursor
  }
  t.ok(Math.max(...sizes) <= 200, 'a page is bounded')
  const of = (table: string) => rows.filter((row) => row.table === table)
  t.equal(of('player').length, 1)
  t.match(of('player')[0]?.values, { id: playerId, cpf, kyc_reason: null })
  const references = of('kyc_submission').map(({ values }) => values.reference)
  t.equal(references.length, 450)
  t.equal(new Set(references).size, 450)
  t.notMatch(JSON.stringify(rows), other)
})

t.test('an export needs a reason, and is recorded: who, whom and why', async (t) => {
  const { id: playerId } = await register()
  const without = { playerId } as Input<typeof exportPlayer>
  await t.rejects(alice.call(exportPlayer, { input: without }), { code: 'VALIDATION_ERROR' })
  await alice.call(exportPlayer, { input: { playerId, reason } })
  const { data } = await bed.team('bob').call(listAudit, { input: { subject: playerId, limit: 10 } })
  t.match(data, [{ actor: 'alice', operation: 'exportPlayer', subject: playerId, reason }])
})
