import { kycStatuses, playerStatuses } from '@backoffice/contracts'
import t from 'tap'
import { admitStake, type StakeFacts, type StakingProvider } from '../../src/play/admission.ts'

const now = new Date('2026-03-02T12:06:00.000Z')
const stake = { sessionId: 'ses_1', playerId: 'ply_1', gameId: 'wallet-reels' }
const provider: StakingProvider = { id: 'prv_1', bodyDigest: '' }
const session = { ...stake, providerId: 'prv_1', expiresAt: new Date('2026-03-02T13:00:00.000Z') }
const game = { rtp: '95.00', inCatalogue: true }
const player = { status: 'ativo', kycStatus: 'aprovado', dailyLimit: null } as const
const fine: StakeFacts = { session, game, player, now }

const suspended = { ...provider, stakesRefusedWith: 'OPERATOR_SUSPENDED' } as const
const excluded = { ...player, status: 'autoexcluido' } as const
const closed = { ...player, status: 'encerrado' } as const
const expired = { ...player, kycStatus: 'expirado' } as const
const over = { ...session, expiresAt: now }

/** What is wrong, from what is looked at first to what is looked at last. */
const wrongs: readonly [what: string, code: string, facts: Partial<StakeFacts>, by?: StakingProvider][] = [
  ['the session is unknown', 'SESSION_NOT_FOUND', { session: undefined }],
  ["the session is another player's", 'SESSION_NOT_FOUND', { session: { ...session, playerId: 'ply_2' } }],
  ["the session's game is another provider's", 'SESSION_NOT_FOUND', { session: { ...session, providerId: 'prv_2' } }],
  ["the session's game has no provider", 'SESSION_NOT_FOUND', { session: { ...session, providerId: null } }],
  ['the player is unknown', 'SESSION_NOT_FOUND', { player: undefined }],
  ["the game is not the session's", 'GAME_NOT_FOUND', { session: { ...session, gameId: 'other' } }],
  ['the game is unknown', 'GAME_NOT_FOUND', { game: undefined }],
  ['the game was taken out of the catalogue', 'GAME_NOT_FOUND', { game: { ...game, inCatalogue: false } }],
  ['the operator is suspended', 'OPERATOR_SUSPENDED', {}, suspended],
  ['the provider is suspended', 'PROVIDER_SUSPENDED', {}, { ...provider, stakesRefusedWith: 'PROVIDER_SUSPENDED' }],
  ['the person is self-excluded', 'RG_BLOCKED', { player: excluded }],
  ['the player is closed', 'PLAYER_NOT_ACTIVE', { player: closed }],
  ['the identity check has ended', 'KYC_NOT_APPROVED', { player: expired }],
  ['the session is over', 'SESSION_EXPIRED', { session: over }],
]

t.test('a stake of an active player in an open session of the provider is admitted', async (t) => {
  t.doesNotThrow(() => admitStake(stake, provider, fine))
})

for (const [what, code, facts, by = provider] of wrongs)
  t.test(`a stake is refused with ${code} when ${what}`, async (t) => {
    t.throws(() => admitStake(stake, by, { ...fine, ...facts }), { code })
  })

t.test('of two faults the one that is looked at first is told', async (t) => {
  for (const [index, [what, code, facts, by]] of wrongs.entries())
    for (const [later, , others, otherBy = provider] of wrongs.slice(index + 1))
      t.throws(() => admitStake(stake, by ?? otherBy, { ...fine, ...others, ...facts }), { code }, `${what}, ${later}`)
})

t.test('of all statuses only ativo stakes, and of all identity checks only an approved one', async (t) => {
  for (const status of playerStatuses)
    for (const kycStatus of kycStatuses) {
      const admit = () => admitStake(stake, provider, { ...fine, player: { ...player, status, kycStatus } })
      if (status === 'ativo' && kycStatus === 'aprovado') t.doesNotThrow(admit)
      else t.throws(admit, `${status}, ${kycStatus}`)
    }
})
