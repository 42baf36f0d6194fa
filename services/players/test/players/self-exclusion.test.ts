import { operations, type Reply } from '@backoffice/contracts'
import { newPlayer, refusal, testBed } from '@backoffice/test-kit'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { players } from '../../src/service.ts'

const { registerPlayer, findPlayers, listPlayers, searchPlayers, showPlayer, getPlayerStanding } = operations.players
const { setPlayerStatus, selfExcludePlayer } = operations.players
type Registered = Reply<typeof registerPlayer>
const bed = await testBed(t, { players, wallet })
const alice = bed.team('alice')
const reason = 'the player asks for it'

async function excluded(environment: 'sandbox' | 'production') {
  const scope = bed.scope({ environment })
  const { id: playerId } = await bed.rpc.call(registerPlayer, { scope, input: newPlayer() })
  // To begin one takes nobody else: it must not wait.
  await alice.call(setPlayerStatus, { input: { playerId, status: 'autoexcluido', reason } })
  const isExcluded = async () =>
    (await bed.rpc.call(getPlayerStanding, { scope, input: { playerId } })).status === 'autoexcluido'
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
  t.match(await alice.call(showPlayer, { input: { playerId } }), { statusSet: 'ativo', selfExclusion: { until: null } })
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

/** What everybody reads of a player as its status. */
async function statusesOf(scope: ReturnType<typeof bed.scope>, { id: playerId, externalId }: Registered) {
  const [found] = (await bed.rpc.call(findPlayers, { scope, input: { externalId: externalId ?? '' } })).data
  const listed = await alice.call(listPlayers, { input: { brandId: scope.brandId, limit: 100 } })
  const [searched] = (await alice.call(searchPlayers, { input: { playerId, limit: 1 } })).data
  const standing = await bed.rpc.call(getPlayerStanding, { scope, input: { playerId } })
  const shown = await alice.call(showPlayer, { input: { playerId } })
  const inList = listed.data.find(({ id }) => id === playerId)
  return [...new Set([found, inList, searched, standing, shown].map((one) => one?.status))]
}

t.test('everybody sees autoexcluido while an exclusion runs, and the status that was set after its end', async (t) => {
  const scope = bed.scope()
  const player = await bed.rpc.call(registerPlayer, { scope, input: newPlayer() })
  const { id: playerId } = player
  t.same(await statusesOf(scope, player), ['ativo'])
  const until = new Date(Date.now() + 3_600_000).toISOString()
  t.match(await alice.call(selfExcludePlayer, { input: { playerId, until } }), { status: 'autoexcluido' })
  t.same(await statusesOf(scope, player), ['autoexcluido'])
  t.match(await alice.call(setPlayerStatus, { input: { playerId, status: 'suspenso', reason } }), {
    status: 'autoexcluido',
    statusSet: 'suspenso',
  })
  t.same(await statusesOf(scope, player), ['autoexcluido'])
  await bed.sql('admin').query('update players.player set self_excluded_until = now() where id = $1', [playerId])
  t.same(await statusesOf(scope, player), ['suspenso'])
})
