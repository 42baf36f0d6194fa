import { defined, type Input, operations, seenOfSubmission, submissionsBytesMax } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import {
  allPages,
  eventually,
  keptMessages,
  newPlayer,
  refusal,
  seenSubmission,
  type TeamUser,
  TestTime,
  testBed,
} from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { sweepApprovals } from '../../src/kyc/change-kyc.ts'
import { players } from '../../src/service.ts'

const { registerPlayer, getKyc, submitKyc, decideKycInSandbox, decideKyc, showPlayer } = operations.players
const { kycQueue, countKycQueue, takeKycCase, releaseKycCase, getPlayerStanding, listPlayers, listAudit } =
  operations.players

const time = new TestTime(new Date('2026-03-02T12:00:00.000Z'))
const dayMs = 86_400_000
/** Swept by the tests themselves. */
const settings = { KYC_TERM_DAYS: 30, KYC_SWEEP_EVERY_MS: 3_600_000 }
const bed = await testBed(t, { players, wallet }, { time, config: { players: settings } })
const alice = bed.team('alice')
const admin = bed.sql('admin')
const scope = bed.scope()
const elsewhere = bed.scope({ environment: 'production', brandId: 'brd_other' })
const register = (overrides?: Record<string, string>) =>
  bed.rpc.call(registerPlayer, { scope, input: newPlayer(overrides) })

/** What operators were told of a player, oldest first. */
const toldOf = async (playerId: string) =>
  (await keptMessages(admin, 'players'))
    .map(({ message }) => message.event.data)
    .filter((data) => data.playerId === playerId)
    .toSorted((a, b) => a.version - b.version)

const ofTerms = bed.scope({ brandId: 'brd_of_terms' })
const sweep = () => sweepApprovals(bed.services.players)

async function approved(): Promise<string> {
  const { id: playerId } = await bed.rpc.call(registerPlayer, { scope: ofTerms, input: newPlayer() })
  await alice.call(decideKyc, { input: { playerId, submission: null, status: 'aprovado', reason: 'documents match' } })
  return playerId
}
t.test('an approval is expirado for everybody from the end of its term on, and its event is sent once', async (t) => {
  // What comes at once meets in the database, not only in the queues of one process.
  const other = await bed.start('players')
  t.teardown(() => other.drain())
  const ids = [await approved(), await approved()]
  const [playerId = ''] = ids
  const seen = async () => [
    (await bed.rpc.call(getKyc, { scope: ofTerms, input: { playerId } })).kycStatus,
    (await bed.rpc.call(getPlayerStanding, { scope: ofTerms, input: { playerId } })).kycStatus,
    (await alice.call(showPlayer, { input: { playerId } })).kycStatus,
  ]
  const listed = async () =>
    (await alice.call(listPlayers, { input: { brandId: ofTerms.brandId, kycStatus: 'expirado', limit: 10 } })).data
  const end = time.now().getTime() + 30 * dayMs
  t.match(await alice.call(showPlayer, { input: { playerId } }), { kycExpiresAt: new Date(end).toISOString() })
  await time.set(new Date(end - 1))
  t.equal(await sweep(), 0)
  t.same(await seen(), ['aprovado', 'aprovado', 'aprovado'])
  await time.set(new Date(end))
  t.same(await seen(), ['expirado', 'expirado', 'expirado'], 'before it was written down')
  const swept = await Promise.all([sweep(), sweepApprovals(other), sweep()])
  t.equal(
    swept.reduce((sum, count) => sum + count, 0),
    2,
  )
  t.equal(await sweep(), 0)
  t.same(await seen(), ['expirado', 'expirado', 'expirado'])
  t.equal((await listed()).length, 2)
  for (const id of ids) {
    const events = await eventually(async () => {
      const sent = (await toldOf(id)).filter(({ kycStatus }) => kycStatus === 'expirado')
      return sent.length > 0 && sent
    })
    t.match(events, [
      { previousStatus: 'aprovado', kycStatus: 'expirado', reason: 'the approval has ended', version: 3 },
    ])
    t.equal(events.length, 1)
  }
  const { data } = await alice.call(listAudit, { input: { actor: 'players', limit: 10 } })
  const changes = [{ before: 'aprovado', after: 'expirado' }]
  t.match(data, Array(2).fill({ operation: 'decideKyc', outcome: 'done', session: null, changes }))
})

t.test('whoever comes before the sweep finds it ended: documents are taken, and a decision begins anew', async (t) => {
  const [submits, renewed] = [await approved(), await approved()]
  await time.set(new Date(time.now().getTime() + 30 * dayMs))
  const submission = { playerId: submits, documentType: 'rg', reference: 'doc-2' }
  t.equal((await bed.rpc.call(submitKyc, { scope: ofTerms, input: submission })).kycStatus, 'em_analise')
  const decision = { playerId: renewed, submission: null, status: 'aprovado', reason: 'documents match' } as const
  t.equal((await alice.call(decideKyc, { input: decision })).kycStatus, 'aprovado')
  t.equal(await sweep(), 0)
  t.match(await alice.call(showPlayer, { input: { playerId: renewed } }), {
    kycStatus: 'aprovado',
    kycExpiresAt: new Date(time.now().getTime() + 30 * dayMs).toISOString(),
  })
})

t.test('a submission is kept with its reference; a decision is told once, the same one again is not', async (t) => {
  const { id: playerId } = await register()
  const receipt = await bed.rpc.call(submitKyc, { scope, input: { playerId, documentType: 'rg', reference: 'doc-1' } })
  t.match(receipt, {
    kycStatus: 'em_analise',
    submission: { documentType: 'rg', reference: 'doc-1', submittedAt: time.now().toISOString() },
  })
  const decide = (status: 'aprovado' | 'expirado') =>
    bed.rpc.call(decideKycInSandbox, { scope, input: { playerId, status } })
  const decided = await decide('aprovado')
  t.match(decided, { kycStatus: 'aprovado', decidedAt: time.now().toISOString(), submissions: [receipt.submission] })
  t.strictSame(await decide('aprovado'), decided)
  await decide('expirado')
  t.strictSame(
    (await toldOf(playerId)).map(({ previousStatus, kycStatus, version }) => [previousStatus, kycStatus, version]),
    [
      ['em_analise', 'aprovado', 3],
      ['aprovado', 'expirado', 4],
    ],
  )
  await decide('aprovado')
  await t.rejects(bed.rpc.call(submitKyc, { scope, input: { playerId, documentType: 'rg', reference: 'doc-2' } }), {
    code: 'KYC_ALREADY_APPROVED',
  })
})

t.test('a decision and its event carry the latest submission, however many and long there are', async (t) => {
  const { id: playerId } = await register()
  const reference = '😀'.repeat(256)
  await admin.query(
    `insert into players.kyc_submission select $1 || lpad(n::text, 3, '0'), $1, 'rg', $2, $3::timestamptz + n * interval '1 second'
     from generate_series(1, 100) n`,
    [playerId, reference, time.now().toISOString()],
  )
  const operationId = newId('opn')
  const decided = await bed.rpc.call(decideKycInSandbox, {
    scope,
    input: { playerId, status: 'expirado' },
    operationId,
  })
  t.strictSame(
    decided.submissions.map(({ id }) => id),
    [`${playerId}100`],
  )
  const { rows } = await admin.query(
    'select octet_length(reply::text) as stored from players.operation where operation_id = $1',
    [operationId],
  )
  const [told] = await toldOf(playerId)
  t.strictSame(told.submissions, decided.submissions)
  const bytes = Buffer.byteLength(JSON.stringify(told))
  t.ok(bytes < 3_500, `an event of ${bytes} bytes`)
  t.ok(rows[0].stored < 4_000, `a stored reply of ${rows[0].stored} bytes`)
  const kyc = await bed.rpc.call(getKyc, { scope, input: { playerId } })
  t.ok(Buffer.byteLength(JSON.stringify(kyc)) <= submissionsBytesMax + 1_000)
  t.ok(kyc.submissions.length > 40)
  t.strictSame(
    kyc.submissions.map(({ id }) => id),
    Array.from(kyc.submissions, (_, n) => `${playerId}${String(100 - n).padStart(3, '0')}`),
  )
})

t.test("the sandbox's decision looks at the brand under the lock, whatever a record or a process says", async (t) => {
  const mistaken = bed.scope({ brandId: 'brd_mistaken' })
  const { id: playerId } = await bed.rpc.call(registerPlayer, { scope: mistaken, input: newPlayer() })
  // Triggers keep it otherwise. The process goes on knowing the brand as one of the sandbox, and the row says so too.
  await admin.query(
    "begin; set local session_replication_role = 'replica'; update players.brand set environment = 'production' where id = 'brd_mistaken'; commit",
  )
  const input = { playerId, status: 'aprovado' } as const
  await t.rejects(bed.rpc.call(decideKycInSandbox, { scope: mistaken, input }), { code: 'INTERNAL_ERROR' })
  t.equal((await bed.rpc.call(getKyc, { scope: mistaken, input: { playerId } })).kycStatus, 'nao_iniciado')
})

t.test('the history has no decision of the sandbox about a player of production', async (t) => {
  const { id: playerId } = await bed.rpc.call(registerPlayer, { scope: elsewhere, input: newPlayer() })
  const change = "insert into player_change (player_id, at, actor, field) values ($1, now(), 'sandbox', 'kycStatus')"
  await t.rejects(bed.sql('players').query(change, [playerId]), { message: /^only in the sandbox/ })
})

t.test('the kind of a document is a label in words, of one line', async (t) => {
  const { id: playerId } = await register()
  const submit = (documentType: string) =>
    bed.rpc.call(submitKyc, { scope, input: { playerId, documentType, reference: 'doc-1' } })
  for (const label of ['rg', 'CNH (frente e verso)', 'Comprovante de residência', 'ç'.repeat(64)])
    t.equal((await submit(label)).submission.documentType, label)
  for (const label of ['', 'x'.repeat(65), 'rg\ncpf', 'rg\u0007', 'rg\u0085'])
    t.equal(await refusal(submit(label)), 'VALIDATION_ERROR', JSON.stringify(label))
})

t.test('the record shows the latest 100 submissions, most recent first', async (t) => {
  const { id: playerId } = await register()
  const { rows } = await admin.query(
    `insert into players.kyc_submission select 'kyc_many_' || lpad(n::text, 3, '0'), $1, 'rg', 'doc-' || n, $2::timestamptz + n * interval '1 second'
     from generate_series(1, 120) n returning id`,
    [playerId, time.now().toISOString()],
  )
  const { submissions } = await bed.rpc.call(getKyc, { scope, input: { playerId } })
  t.equal(rows.length, 120)
  t.equal(submissions.length, 100)
  t.match([submissions.at(0), submissions.at(-1)], [{ reference: 'doc-120' }, { reference: 'doc-21' }])
})

t.test('the queue is read page by page, over documents that came at one moment too', async (t) => {
  const there = bed.scope({ brandId: 'brd_of_a_queue' })
  const waiting: string[] = []
  for (let index = 0; index < 3; index++) {
    const { id: playerId } = await bed.rpc.call(registerPlayer, { scope: there, input: newPlayer() })
    await bed.rpc.call(submitKyc, { scope: there, input: { playerId, documentType: 'rg', reference: 'x' } })
    waiting.push(playerId)
  }
  const found = await allPages((after) =>
    alice.call(kycQueue, { input: { brandId: there.brandId, limit: 2, ...defined({ after }) } }),
  )
  t.strictSame(
    found.map(({ playerId }) => playerId),
    waiting.sort(),
  )
  const newestFirst = await allPages((after) =>
    alice.call(kycQueue, { input: { brandId: there.brandId, order: 'newest', limit: 2, ...defined({ after }) } }),
  )
  t.strictSame(newestFirst, found.toReversed())
  t.equal(await refusal(alice.call(kycQueue, { input: { after: 'nowhere', limit: 1 } })), 'VALIDATION_ERROR')
})

t.test('the queue shows one environment or both, and is counted by environment', async (t) => {
  const [ofSandbox, ofProduction] = [
    bed.scope({ operatorId: 'op_counted' }),
    bed.scope({ operatorId: 'op_counted', environment: 'production' }),
  ]
  const submit = async (there: typeof scope) => {
    const { id: playerId } = await bed.rpc.call(registerPlayer, { scope: there, input: newPlayer() })
    await bed.rpc.call(submitKyc, { scope: there, input: { playerId, documentType: 'rg', reference: 'x' } })
    return playerId
  }
  const count = async (input: object) => (await alice.call(countKycQueue, { input })).data
  t.same(await count({ environment: 'production' }), [{ environment: 'production', waiting: 0, oldestAt: null }])
  const [inSandbox, live] = [await submit(ofSandbox), await submit(ofProduction)]
  const queue = async (filter: object) =>
    (await alice.call(kycQueue, { input: { operatorId: 'op_counted', limit: 10, ...filter } })).data
  const idsIn = async (filter: object) => (await queue(filter)).map(({ playerId }) => playerId)
  t.same((await idsIn({})).sort(), [inSandbox, live].sort())
  t.same(await idsIn({ environment: 'production' }), [live])
  t.same(await idsIn({ environment: 'sandbox' }), [inSandbox])
  t.match(await queue({ environment: 'production' }), [{ operatorId: 'op_counted', operatorName: null }])
  const [{ waiting: before } = { waiting: 0 }, second] = await count({})
  t.same(second, { environment: 'production', waiting: 1, oldestAt: time.now().toISOString() })
  await submit(ofSandbox)
  const seen = await seenSubmission(alice, live)
  await alice.call(decideKyc, { input: { ...seen, status: 'aprovado', reason: 'documents match' } })
  t.match(await count({}), [
    { environment: 'sandbox', waiting: before + 1 },
    { environment: 'production', waiting: 0, oldestAt: null },
  ])
})

t.test(
  'a case that one has taken nobody else decides, until it is taken over, given back, or half an hour old',
  async (t) => {
    const there = bed.scope({ brandId: 'brd_of_taken_cases' })
    const { id: playerId } = await bed.rpc.call(registerPlayer, { scope: there, input: newPlayer() })
    const submit = () =>
      bed.rpc.call(submitKyc, { scope: there, input: { playerId, documentType: 'rg', reference: 'x' } })
    await submit()
    const take = (user: TeamUser, input: { takeOver?: boolean } = {}) =>
      bed.team(user).call(takeKycCase, { input: { playerId, ...input } })
    const release = (user: TeamUser) => bed.team(user).call(releaseKycCase, { input: { playerId } })
    const decide = async (user: TeamUser) => {
      const seen = await seenSubmission(bed.team('support'), playerId)
      return bed.team(user).call(decideKyc, { input: { ...seen, status: 'reprovado', reason: 'unreadable' } })
    }
    const shown = async () => {
      const [player, queue] = await Promise.all([
        bed.team('support').call(showPlayer, { input: { playerId } }),
        bed.team('support').call(kycQueue, { input: { brandId: there.brandId, limit: 1 } }),
      ])
      t.same(queue.data[0]?.taken, player.taken)
      return player.taken
    }
    t.equal(await shown(), null)
    t.same(await release('alice'), { playerId, taken: null }, 'nobody has it: that is done already')

    const until = new Date(time.now().getTime() + 30 * 60_000).toISOString()
    t.same(await take('alice'), { playerId, taken: { by: 'alice', at: time.now().toISOString(), until } })
    t.same(await shown(), { by: 'alice', at: time.now().toISOString(), until })
    const taken = { code: 'KYC_TAKEN', details: { playerId, takenBy: 'alice', until } }
    const calls: readonly ((user: TeamUser) => Promise<unknown>)[] = [take, release, decide]
    for (const call of calls) await t.rejects(call('bob'), taken)
    t.match(await take('bob', { takeOver: true }), { taken: { by: 'bob' } })
    t.equal(await refusal(decide('alice')), 'KYC_TAKEN')
    await release('bob')
    t.equal(await shown(), null)

    await take('bob')
    await time.set(new Date(time.now().getTime() + 29 * 60_000))
    t.equal(await refusal(take('alice')), 'KYC_TAKEN')
    await take('bob')
    await time.set(new Date(time.now().getTime() + 30 * 60_000))
    t.equal(await shown(), null)
    await decide('alice')

    await submit()
    await take('alice')
    await decide('alice')
    await submit()
    t.equal(await shown(), null, 'it was over with the decision')
    await take('alice')
    await bed.rpc.call(decideKycInSandbox, { scope: there, input: { playerId, status: 'aprovado' } })
    t.equal(await refusal(take('support')), 'ROLE_REQUIRED')
    t.match(await bed.team('bob').call(showPlayer, { input: { playerId } }), { kycStatus: 'aprovado', taken: null })

    const { data } = await bed.team('bob').call(listAudit, { input: { subject: playerId, limit: 50 } })
    const changes = data.flatMap(({ actor, changes }) => (changes ?? []).map((change) => ({ actor, ...change })))
    t.strictSame(
      changes
        .filter(({ field }) => field === 'takenBy')
        .reverse()
        .slice(0, 3),
      [
        { actor: 'alice', field: 'takenBy', before: null, after: 'alice' },
        { actor: 'bob', field: 'takenBy', before: 'alice', after: 'bob' },
        { actor: 'bob', field: 'takenBy', before: 'bob', after: null },
      ],
    )
    for (const operation of [takeKycCase, releaseKycCase])
      t.equal(
        await refusal(bed.team('alice').call(operation, { input: { playerId: 'ply_nobody' } })),
        'PLAYER_NOT_FOUND',
      )
  },
)

t.test(
  'a decision is about the submission that was shown: another one that has arrived since is refused',
  async (t) => {
    const carol = bed.team('carol')
    const { id: playerId } = await register()
    const submit = (reference: string) =>
      bed.rpc.call(submitKyc, { scope, input: { playerId, documentType: 'rg', reference } })
    const first = await seenSubmission(carol, playerId)
    t.equal(first.submission, null)
    await submit('doc-seen')
    const seen = await seenSubmission(carol, playerId)
    await submit('doc-unseen')
    const decide = (input: Pick<Input<typeof decideKyc>, 'playerId' | 'submission' | 'seen'>) =>
      carol.call(decideKyc, { input: { ...input, status: 'aprovado', reason: 'documents match' } })
    const { submission: held } = await seenSubmission(carol, playerId)
    const known = await seenSubmission(carol, playerId)
    const player = await carol.call(showPlayer, { input: { playerId } })
    const [submission] = player.submissions
    if (submission === undefined) throw new Error('nothing was submitted')
    const digestOf = (lie: object) =>
      seenOfSubmission({ player: { ...player, ...lie }, submission: { ...submission, ...lie } })
    const evil = 'https://evil.example/doc-unseen?expires=1&signature=0a'
    for (const lie of [{ name: 'Eva' }, { reference: 'doc-seen' }, { documentUrl: evil }]) {
      const details = { playerId, seen: digestOf(lie), held: known.seen }
      await t.rejects(decide({ ...known, seen: digestOf(lie) }), { code: 'NOT_AS_SEEN', details })
    }
    for (const { submission } of [first, seen])
      await t.rejects(decide({ playerId, submission, seen: known.seen }), {
        code: 'NOT_AS_SEEN',
        details: { playerId, seen: { submission }, held: { submission: held } },
      })
    const unexplained = { playerId, submission: held, status: 'aprovado' } as never
    t.equal(await refusal(carol.call(decideKyc, { input: unexplained })), 'VALIDATION_ERROR', 'it needs a reason')
    t.equal((await carol.call(showPlayer, { input: { playerId } })).kycStatus, 'em_analise')
    const { restsOn: _, ...unseen } = { restsOn: undefined, ...known }
    await t.rejects(decide(unseen), { code: 'VALIDATION_ERROR' }, 'nobody could look at the document')
    t.equal((await decide(known)).kycStatus, 'aprovado')
  },
)
