import { kycDecisions, kycStatuses } from '@backoffice/contracts'
import t from 'tap'
import { decide, submit } from '../../src/domain/kyc.ts'

const now = new Date('2026-03-02T12:00:00.000Z')
const earlier = new Date('2026-03-01T12:00:00.000Z')
const decided = { kycVersion: 3, kycDecidedAt: earlier, kycReason: 'unreadable' }

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
          decide(player, { status, reason: null }, now),
          kycStatus === status
            ? { player, change: null }
            : {
                player: { kycStatus: status, kycVersion: 4, kycDecidedAt: now, kycReason: null },
                change: { field: 'kycStatus', previous: kycStatus, next: status },
              },
          `${kycStatus} → ${status}`,
        )
      }
    }
  },
)
