import { operations } from '@backoffice/contracts'
import { refusal, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { players } from '../../src/service.ts'
import { newPlayer } from '../new-player.ts'

const { registerPlayer, setPlayerStatus, selfExcludePlayer, showPlayer, getPlayerStanding } = operations.players
const bed = await testBed(t, { players, wallet })
const alice = bed.team('alice')
const reason = 'the player asks for it'

async function excluded(environment: 'sandbox' | 'production') {
  const scope = bed.scope({ environment })
  const { id: playerId } = await bed.rpc.call(registerPlayer, { scope, input: newPlayer() })
  // To begin one takes nobody else: it must not wait.
  await alice.call(setPlayerStatus, { input: { playerId, status: 'autoexcluido', reason } })
  const isExcluded = async () => (await bed.rpc.call(getPlayerStanding, { scope, input: { playerId } })).selfExcluded
  return { playerId, isExcluded }
}

t.test('in production a self-exclusion is ended by two people, whatever the next status is', async (t) => {
  const { playerId, isExcluded } = await excluded('production')
  for (const status of ['ativo', 'suspenso', 'encerrado'] as const) {
    const input = { playerId, status, reason }
    const { code, details } = await alice.call(setPlayerStatus, { input }).catch((error) => error)
    t.equal(code, 'AWAITS_APPROVAL', status)
    const approves = String(details.proposalId)
    t.equal(await refusal(alice.call(setPlayerStatus, { input, approves })), 'TWO_PEOPLE_REQUIRED', status)
    t.equal(await refusal(bed.machine().call(setPlayerStatus, { input, approves })), 'TWO_PEOPLE_REQUIRED', status)
    t.equal(await isExcluded(), true, status)
  }
  const input = { playerId, status: 'ativo', reason } as const
  const { details } = await alice.call(setPlayerStatus, { input }).catch((error) => error)
  t.match(await bed.team('bob').call(setPlayerStatus, { input, approves: details.proposalId }), { status: 'ativo' })
  t.equal(await isExcluded(), false)
})

t.test('nobody ends one that has dates, alone or together', async (t) => {
  const { playerId, isExcluded } = await excluded('production')
  await alice.call(selfExcludePlayer, { input: { playerId, until: null, reason } })
  await bed.agreed(setPlayerStatus, { input: { playerId, status: 'ativo', reason } })
  t.match(await alice.call(showPlayer, { input: { playerId } }), { status: 'ativo', selfExclusion: { until: null } })
  const soon = new Date(Date.now() + 3_600_000).toISOString()
  const shorter = { playerId, until: soon, reason }
  t.equal(await refusal(alice.call(selfExcludePlayer, { input: shorter })), 'VALIDATION_ERROR')
  t.equal(await isExcluded(), true)
})

t.test('in the sandbox one person is enough', async (t) => {
  const { playerId, isExcluded } = await excluded('sandbox')
  await alice.call(setPlayerStatus, { input: { playerId, status: 'ativo', reason } })
  t.equal(await isExcluded(), false)
})
