import { kycDecisions, kycStatuses } from '@backoffice/contracts'
import t from 'tap'
import { decide, kycAt, submit } from '../../src/players/player.ts'

const now = new Date('2026-03-02T12:00:00.000Z')
const earlier = new Date('2026-03-01T12:00:00.000Z')
const decided = { kycVersion: 3, kycDecidedAt: earlier, kycReason: 'unreadable', kycExpiresAt: null }

t.test('a submission leads to em_analise from every status but aprovado, and raises the version', async (t) => {
  for (const kycStatus of kycStatuses) {
    const player = { ...decided, kycStatus }
    if (kycStatus === 'aprovado') t.throws(() => submit(player), { code: 'KYC_ALREADY_APPROVED' })
    else if (kycStatus === 'em_analise')
      t.strictSame(submit(player), { player, change: null }, 'it is under analysis already')
    else
      t.strictSame(
        submit(player),
        {
          player: { ...player, kycStatus: 'em_analise', kycVersion: 4 },
          change: { field: 'kycStatus', previous: kycStatus, next: 'em_analise' },
        },
        kycStatus,
      )
  }
})

t.test(
  'every decision leads to its status from any other, with a version that rises; the same one changes nothing',
  async (t) => {
    for (const kycStatus of kycStatuses) {
      for (const status of kycDecisions) {
        const player = { ...decided, kycStatus }
        t.strictSame(
          decide(player, { status, reason: null, termMs: null }, now),
          kycStatus === status
            ? { player, change: null }
            : {
                player: { kycStatus: status, kycVersion: 4, kycDecidedAt: now, kycReason: null, kycExpiresAt: null },
                change: { field: 'kycStatus', previous: kycStatus, next: status },
              },
          `${kycStatus} → ${status}`,
        )
      }
    }
  },
)

t.test('only an approval has a term, and from its end on it is expirado', async (t) => {
  const player = { ...decided, kycStatus: 'em_analise' } as const
  const termMs = 86_400_000
  for (const status of kycDecisions) {
    const { player: after } = decide(player, { status, reason: null, termMs }, now)
    t.same(after.kycExpiresAt, status === 'aprovado' ? new Date('2026-03-03T12:00:00.000Z') : null, status)
    t.equal(kycAt(after, new Date('2026-03-03T11:59:59.999Z')), after)
    const ended = kycAt(after, new Date('2026-03-03T12:00:00.000Z'))
    if (status !== 'aprovado') t.equal(ended, after)
    else
      t.same(ended, {
        ...{ kycStatus: 'expirado', kycVersion: after.kycVersion + 1, kycDecidedAt: now },
        ...{ kycReason: 'the approval has ended', kycExpiresAt: null },
      })
  }
})
