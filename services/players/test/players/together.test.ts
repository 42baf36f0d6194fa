import { operations } from '@backoffice/contracts'
import { keptMessages, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { players } from '../../src/service.ts'
import { newPlayer } from '../new-player.ts'

const { registerPlayer, findPlayers, getKyc, getPlayerStanding, submitKyc, decideKycInSandbox } = operations.players
const bed = await testBed(t, { players, wallet })
const scope = bed.scope()
const elsewhere = bed.scope({ environment: 'production', brandId: 'brd_other' })
const admin = bed.sql('admin')

type Registration = ReturnType<typeof newPlayer>
const register = (input: Registration, as = scope) => bed.rpc.call(registerPlayer, { scope: as, input })
/** The id or the code with which each call ended, in order. */
const outcomesOf = async (calls: readonly Promise<{ id?: string }>[]) =>
  (await Promise.allSettled(calls)).map((call) =>
    call.status === 'fulfilled' ? call.value : { code: call.reason.code, ...call.reason.details },
  )

t.test('registrations that arrive together share transactions, and each has its own outcome', async (t) => {
  const taken = newPlayer()
  const { id: playerId } = await register(taken)
  const outcomes = await outcomesOf(
    Array.from({ length: 60 }, (_, place) => {
      if (place % 3 === 1) return register(newPlayer({ birthDate: '2024-01-01', name: 'Together Lima' }))
      if (place % 3 === 2) return register(newPlayer({ externalId: taken.externalId }))
      return register(newPlayer({ name: 'Together Lima' }))
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

t.test('a registration that PostgreSQL cannot store fails alone', async (t) => {
  // Nothing that passes validation is refused by the schema, so a rule is added that is.
  await admin.query(`alter table players.player add constraint no_poison check (name <> 'Poison Lima')`)
  const poison = newPlayer({ name: 'Poison Lima' })
  const calls = Array.from({ length: 20 }, (_, place) => register(place === 7 ? poison : newPlayer()))
  const outcomes = await outcomesOf(calls)
  outcomes.forEach((outcome, place) => {
    t.match(outcome, place === 7 ? { code: 'INTERNAL_ERROR' } : { id: /^ply_/ })
  })
})

t.test('reads that arrive together answer each caller about its own player', async (t) => {
  const mine = await register(newPlayer())
  const theirs = await register(newPlayer({ name: 'Bia Lima' }), elsewhere)
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
  const { id: playerId } = await register(newPlayer())
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

t.test('with two replicas', async (t) => {
  await bed.start('players')

  t.test('of registrations with one externalId one wins, and the rest learn its id', async (t) => {
    for (let round = 0; round < 10; round++) {
      const input = newPlayer()
      const outcomes = await outcomesOf(Array.from({ length: 6 }, () => register(input)))
      const won = outcomes.filter((outcome) => 'id' in outcome)
      t.equal(won.length, 1)
      for (const outcome of outcomes)
        if (!('id' in outcome)) t.match(outcome, { code: 'PLAYER_ALREADY_EXISTS', playerId: won[0]?.id })
    }
  })

  t.test('decisions about one player follow one another, and versions never repeat', async (t) => {
    const { id: playerId } = await register(newPlayer())
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
