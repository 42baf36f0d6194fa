import { operations } from '@backoffice/contracts'
import { eventually, keptMessages, newPlayer, TestTime, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { sweepApprovals } from '../../src/kyc/change-kyc.ts'
import { players } from '../../src/service.ts'

const { registerPlayer, decideKyc, submitKyc, getKyc, getPlayerStanding, listPlayers, showPlayer, listAudit } =
  operations.players

const time = new TestTime(new Date('2026-03-02T12:00:00.000Z'))
/** Swept by the test itself. */
const settings = { KYC_TERM_DAYS: 30, KYC_SWEEP_EVERY_MS: 3_600_000 }
const bed = await testBed(t, { players, wallet }, { time, config: { players: settings } })
// What comes at once meets in the database, not only in the queues of one process.
const other = await bed.start('players')
const scope = bed.scope()
const alice = bed.team('alice')
const sweep = () => sweepApprovals(bed.services.players)

async function approved(): Promise<string> {
  const { id: playerId } = await bed.rpc.call(registerPlayer, { scope, input: newPlayer() })
  await alice.call(decideKyc, { input: { playerId, submission: null, status: 'aprovado', reason: 'documents match' } })
  return playerId
}
const eventsOf = async (playerId: string) =>
  (await keptMessages(bed.sql('admin'), 'players'))
    .map(({ message }) => message.event.data)
    .filter((data) => data.playerId === playerId && data.kycStatus === 'expirado')

t.test('an approval is expirado for everybody from the end of its term on, and its event is sent once', async (t) => {
  const ids = [await approved(), await approved()]
  const [playerId = ''] = ids
  const seen = async () => [
    (await bed.rpc.call(getKyc, { scope, input: { playerId } })).kycStatus,
    (await bed.rpc.call(getPlayerStanding, { scope, input: { playerId } })).kycStatus,
    (await alice.call(showPlayer, { input: { playerId } })).kycStatus,
  ]
  const listed = async () =>
    (await alice.call(listPlayers, { input: { brandId: scope.brandId, kycStatus: 'expirado', limit: 10 } })).data
  t.match(await alice.call(showPlayer, { input: { playerId } }), { kycExpiresAt: '2026-04-01T12:00:00.000Z' })
  await time.set(new Date('2026-04-01T11:59:59.999Z'))
  t.equal(await sweep(), 0)
  t.same(await seen(), ['aprovado', 'aprovado', 'aprovado'])
  await time.set(new Date('2026-04-01T12:00:00.000Z'))
  t.same(await seen(), ['expirado', 'expirado', 'expirado'], 'before it was written down')
  t.equal((await listed()).length, 2)
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
      const sent = await eventsOf(id)
      return sent.length > 0 && sent
    })
    t.match(events, [
      { previousStatus: 'aprovado', kycStatus: 'expirado', reason: 'the approval has ended', version: 3 },
    ])
    t.equal(events.length, 1)
  }
  const { data } = await alice.call(listAudit, { input: { actor: 'players', limit: 10 } })
  t.match(data, [
    { operation: 'decideKyc', outcome: 'done', session: null, changes: [{ before: 'aprovado', after: 'expirado' }] },
    { operation: 'decideKyc', outcome: 'done', session: null, changes: [{ before: 'aprovado', after: 'expirado' }] },
  ])
})

t.test('whoever comes before the sweep finds it ended: documents are taken, and a decision begins anew', async (t) => {
  const [submits, renewed] = [await approved(), await approved()]
  await time.set(new Date(time.now().getTime() + 30 * 86_400_000))
  const submission = { playerId: submits, documentType: 'rg', reference: 'doc-2' }
  t.equal((await bed.rpc.call(submitKyc, { scope, input: submission })).kycStatus, 'em_analise')
  const decision = { playerId: renewed, submission: null, status: 'aprovado', reason: 'documents match' } as const
  t.equal((await alice.call(decideKyc, { input: decision })).kycStatus, 'aprovado')
  t.equal(await sweep(), 0)
  t.match(await alice.call(showPlayer, { input: { playerId: renewed } }), {
    kycStatus: 'aprovado',
    kycExpiresAt: new Date(time.now().getTime() + 30 * 86_400_000).toISOString(),
  })
})
