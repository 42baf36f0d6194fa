import { kycStatuses, playerStatuses } from '@backoffice/contracts'
import t from 'tap'
import { admitToPlay } from '../../src/games/play.ts'

const eligible = { status: 'ativo', kycStatus: 'aprovado', dailyLimit: null, dayDeposits: 0n } as const

t.test('play needs an active player with an approved identity check', async (t) => {
  t.doesNotThrow(() => admitToPlay(eligible))
  for (const status of playerStatuses) {
    const code = status === 'autoexcluido' ? 'RG_BLOCKED' : 'PLAYER_NOT_ACTIVE'
    if (status !== 'ativo') t.throws(() => admitToPlay({ ...eligible, status }), { code }, status)
  }
  for (const kycStatus of kycStatuses) {
    if (kycStatus !== 'aprovado')
      t.throws(() => admitToPlay({ ...eligible, kycStatus }), { code: 'KYC_NOT_APPROVED' }, kycStatus)
  }
})

t.test("play is refused once the day's deposits exceed the limit, not when they reach it", async (t) => {
  t.doesNotThrow(() => admitToPlay({ ...eligible, dailyLimit: 100n, dayDeposits: 100n }))
  t.throws(() => admitToPlay({ ...eligible, dailyLimit: 100n, dayDeposits: 101n }), { code: 'RG_BLOCKED' })
})

t.test('refusals come in order: self-exclusion, status, KYC, daily limit', async (t) => {
  const worst = { status: 'autoexcluido', kycStatus: 'nao_iniciado', dailyLimit: 1n, dayDeposits: 2n } as const
  t.throws(() => admitToPlay(worst), { code: 'RG_BLOCKED', details: { reason: 'self_exclusion' } })
  t.throws(() => admitToPlay({ ...worst, status: 'suspenso' }), { code: 'PLAYER_NOT_ACTIVE' })
  t.throws(() => admitToPlay({ ...worst, status: 'ativo' }), { code: 'KYC_NOT_APPROVED' })
  t.throws(() => admitToPlay({ ...worst, status: 'ativo', kycStatus: 'aprovado' }), {
    code: 'RG_BLOCKED',
    details: { reason: 'daily_limit' },
  })
})
