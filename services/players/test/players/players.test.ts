import { defined, type Input, operations } from '@backoffice/contracts'
import { allPages, keptMessages, newPlayer, seenSubmission, TestTime, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { players } from '../../src/service.ts'

const { registerPlayer, findPlayers, getKyc, submitKyc, decideKycInSandbox, decideKyc, getPlayerStanding } =
  operations.players
const { setPlayerStatus, kycQueue, showPlayer, listPlayers, exportPlayer, listAudit } = operations.players

const time = new TestTime(new Date('2026-03-02T12:00:00.000Z'))
const bed = await testBed(t, { players, wallet }, { time })
const scope = bed.scope()
const elsewhere = bed.scope({ environment: 'production', brandId: 'brd_other' })
const register = (overrides?: Record<string, string>) =>
  bed.rpc.call(registerPlayer, { scope, input: newPlayer(overrides) })
const admin = bed.sql('admin')
const alice = bed.team('alice')
const registerAs = (input: ReturnType<typeof newPlayer>, as = scope) =>
  bed.rpc.call(registerPlayer, { scope: as, input })
/** The id or the code with which each call ended, in order. */
const outcomesOf = async (calls: readonly Promise<{ id?: string }>[]) =>
  (await Promise.allSettled(calls)).map((call) =>
    call.status === 'fulfilled' ? call.value : { code: call.reason.code, ...call.reason.details },
  )

const ofMasked = bed.scope({ brandId: 'brd_of_masked' })
const person = { ...newPlayer({ cpf: '529.982.247-25' }), phone: '+5511987654321' }
const { id: playerId } = await registerAs(person, ofMasked)

t.test('a new player is ativo and nao_iniciado, has digits only as CPF, and a wallet', async (t) => {
  const player = await register({ cpf: '529.982.247-25' })
  t.match(player, {
    status: 'ativo',
    kycStatus: 'nao_iniciado',
    cpf: '52998224725',
    phone: null,
    currency: 'BRL',
    createdAt: time.now().toISOString(),
  })
  const found = await bed.rpc.call(findPlayers, { scope, input: { externalId: player.externalId ?? '' } })
  t.strictSame(found.data, [player])
  t.strictSame(
    (await bed.rpc.call(findPlayers, { scope: elsewhere, input: { externalId: player.externalId ?? '' } })).data,
    [],
  )
  t.equal(
    (await bed.rpc.call(operations.wallet.getWallet, { scope, input: { playerId: player.id } })).available,
    '0.00',
  )
})

t.test('who turns 18 tomorrow, where the brand is, is refused', async (t) => {
  await t.rejects(register({ birthDate: '2008-03-03' }), {
    code: 'VALIDATION_ERROR',
    details: { in: 'body', issues: [{ path: '/birthDate' }] },
  })
  t.ok(await register({ birthDate: '2008-03-02' }))
})

t.test('the team finds, decides and changes, and each action is recorded with who and why', async (t) => {
  const { id: playerId } = await register()
  await bed.rpc.call(submitKyc, { scope, input: { playerId, documentType: 'cnh', reference: 'doc-9' } })
  const { brandId } = await alice.call(showPlayer, { input: { playerId } })
  t.equal(brandId, scope.brandId)
  const queue = await alice.call(kycQueue, { input: { brandId, limit: 100 } })
  t.match(
    queue.data.find((row) => row.playerId === playerId),
    { latestDocumentType: 'cnh', latestReference: 'doc-9', submissions: 1 },
  )
  const seen = await seenSubmission(alice, playerId)
  await alice.call(decideKyc, { input: { ...seen, status: 'reprovado', reason: 'unreadable' } })
  await alice.call(setPlayerStatus, { input: { playerId, status: 'suspenso', reason: 'complaint 7' } })
  const shown = await alice.call(showPlayer, { input: { playerId } })
  t.strictSame(
    shown.changes.map(({ actor, field, to, reason }) => [actor, field, to, reason]),
    [
      ['alice', 'status', 'suspenso', 'complaint 7'],
      ['alice', 'kycStatus', 'reprovado', 'unreadable'],
      [scope.operatorId, 'kycStatus', 'em_analise', null],
    ],
  )
  const audit = await bed.team('bob').call(listAudit, { input: { subject: playerId, limit: 10 } })
  t.strictSame(
    // Reads are recorded too.
    audit.data
      .filter(({ operation }) => operation !== 'showPlayer')
      .map(({ actor, operation, reason }) => [actor, operation, reason]),
    [
      ['alice', 'setPlayerStatus', 'complaint 7'],
      ['alice', 'decideKyc', 'unreadable'],
    ],
  )
  for (const [operation, input] of [
    [setPlayerStatus, { playerId: 'ply_nobody', status: 'ativo', reason: 'x' }],
    [decideKyc, { playerId: 'ply_nobody', submission: null, status: 'aprovado', reason: 'none' }],
    [showPlayer, { playerId: 'ply_nobody' }],
  ] as const) {
    await t.rejects(alice.call(operation, { input } as never), { code: 'PLAYER_NOT_FOUND' }, operation.id)
  }
  const listed = await alice.call(listPlayers, { input: { brandId, status: 'suspenso', limit: 10 } })
  t.ok(listed.data.some(({ id }) => id === playerId))
})

t.test('registrations that arrive together share transactions, and each has its own outcome', async (t) => {
  const taken = newPlayer()
  const { id: playerId } = await registerAs(taken)
  const outcomes = await outcomesOf(
    Array.from({ length: 60 }, (_, place) => {
      if (place % 3 === 1) return registerAs(newPlayer({ birthDate: '2024-01-01', name: 'Together Lima' }))
      if (place % 3 === 2) return registerAs(newPlayer({ externalId: taken.externalId }))
      return registerAs(newPlayer({ name: 'Together Lima' }))
    }),
  )
  outcomes.forEach((outcome, place) => {
    if (place % 3 === 1) t.match(outcome, { code: 'VALIDATION_ERROR', in: 'body' })
    else if (place % 3 === 2) t.match(outcome, { code: 'PLAYER_ALREADY_EXISTS', playerId })
    else t.match(outcome, { id: /^ply_/, status: 'ativo' })
  })
  const { rows } = await admin.query(
    `select count(*)::int as players, count(distinct xmin::text)::int as transactions from players.player where name = 'Together Lima'`,
  )
  t.equal(rows[0].players, 20, 'who was refused is not there')
  t.ok(rows[0].transactions < 20, `${rows[0].transactions} transactions`)
})

t.test('reads that arrive together answer each caller about its own player', async (t) => {
  const mine = await registerAs(newPlayer())
  const theirs = await registerAs(newPlayer({ name: 'Bia Lima' }), elsewhere)
  const asked = [
    { playerId: mine.id, as: scope, found: true },
    { playerId: theirs.id, as: elsewhere, found: true },
    { playerId: theirs.id, as: scope, found: false },
    { playerId: mine.id, as: elsewhere, found: false },
    { playerId: 'ply_nobody', as: scope, found: false },
  ]
  const repeated = Array.from({ length: 8 }, () => asked).flat()
  for (const operation of [getKyc, getPlayerStanding]) {
    const outcomes = await outcomesOf(
      repeated.map(
        ({ playerId, as }) => bed.rpc.call(operation, { scope: as, input: { playerId } }) as Promise<object>,
      ),
    )
    outcomes.forEach((outcome, place) => {
      const { playerId, found } = repeated[place] ?? {}
      t.match(outcome, found ? { playerId } : { code: 'PLAYER_NOT_FOUND' })
    })
  }
  const names = [mine.externalId, theirs.externalId, 'user-nobody'].map((externalId) => externalId ?? '')
  const found = await Promise.all(
    names.flatMap((externalId) =>
      [scope, elsewhere].map((as) => bed.rpc.call(findPlayers, { scope: as, input: { externalId } })),
    ),
  )
  t.strictSame(
    found.map(({ data }) => data),
    [[mine], [], [], [theirs], [], []],
  )
})

t.test('submissions for one player that arrive together are all kept', async (t) => {
  const { id: playerId } = await registerAs(newPlayer())
  const references = Array.from({ length: 10 }, (_, place) => `doc-${place}`)
  const receipts = await Promise.all(
    references.map((reference) =>
      bed.rpc.call(submitKyc, { scope, input: { playerId, documentType: 'rg', reference } }),
    ),
  )
  t.ok(receipts.every(({ kycStatus }) => kycStatus === 'em_analise'))
  const { submissions } = await bed.rpc.call(getKyc, { scope, input: { playerId } })
  t.strictSame(submissions.map(({ reference }) => reference).sort(), references)
  const { rows } = await admin.query('select kyc_version from players.player where id = $1', [playerId])
  t.equal(rows[0].kyc_version, 2, 'only the first changed the status')
})

const reads = async () =>
  (await alice.call(listAudit, { input: { subject: playerId, limit: 50 } })).data.filter(
    ({ operation }) => operation === 'showPlayer',
  )

const maskedValues = { cpf: '*********25', email: 'a***@example.com', phone: '**********4321', birthDate: '1990-**-**' }

t.test('the team reads CPF, e-mail, phone and birth date masked, in every reply', async (t) => {
  const shown = await alice.call(showPlayer, { input: { playerId } })
  t.match(shown, { ...maskedValues, name: person.name, externalId: person.externalId })
  const { data } = await alice.call(listPlayers, { input: { brandId: ofMasked.brandId, limit: 10 } })
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
  const rows = await allPages(async (after) => {
    const page = await alice.call(exportPlayer, { input: { playerId, reason, ...defined({ after }) } })
    t.ok(page.rows.length <= 200, 'a page is bounded')
    return { data: page.rows, nextCursor: page.nextCursor }
  })
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

t.test('with two replicas', async (t) => {
  await bed.start('players')

  t.test('of registrations with one externalId one wins, and the rest learn its id', async (t) => {
    for (let round = 0; round < 10; round++) {
      const input = newPlayer()
      const outcomes = await outcomesOf(Array.from({ length: 6 }, () => registerAs(input)))
      const won = outcomes.filter((outcome) => 'id' in outcome)
      t.equal(won.length, 1)
      for (const outcome of outcomes)
        if (!('id' in outcome)) t.match(outcome, { code: 'PLAYER_ALREADY_EXISTS', playerId: won[0]?.id })
    }
  })

  t.test('decisions about one player follow one another, and versions never repeat', async (t) => {
    const { id: playerId } = await registerAs(newPlayer())
    const statuses = ['aprovado', 'expirado', 'pendente', 'reprovado'] as const
    await Promise.all(
      Array.from({ length: 24 }, (_, place) =>
        bed.rpc.call(decideKycInSandbox, { scope, input: { playerId, status: statuses[place % 4] ?? 'aprovado' } }),
      ),
    )
    const told = (await keptMessages(admin, 'players'))
      .map(({ message }) => message.event.data)
      .filter((data) => data.playerId === playerId)
      .toSorted((a, b) => a.version - b.version)
    let status = 'nao_iniciado'
    told.forEach((data, place) => {
      t.match(data, { version: place + 2, previousStatus: status })
      t.not(data.kycStatus, status)
      status = data.kycStatus
    })
    const kyc = await bed.rpc.call(getKyc, { scope, input: { playerId } })
    t.equal(kyc.kycStatus, status, 'the last event tells the truth')
    const changes = await admin.query(
      'select count(*)::int as changes from players.player_change where player_id = $1',
      [playerId],
    )
    t.equal(changes.rows[0].changes, told.length)
  })
})
