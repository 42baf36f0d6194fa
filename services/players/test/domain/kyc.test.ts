import { kycDecisions, kycStatuses } from '@backoffice/contracts'
import t from 'tap'
import { decide, submit } from '../../src/domain/kyc.ts'

t.test('a submission leads to em_analise from every status but aprovado', async (t) => {
  for (const status of kycStatuses) {
    if (status === 'aprovado') t.throws(() => submit(status), { code: 'KYC_ALREADY_APPROVED' })
    else t.equal(submit(status), 'em_analise', status)
  }
})

t.test(
  'every decision leads to its status from any other, with a version that rises; the same one changes nothing',
  async (t) => {
    for (const kycStatus of kycStatuses) {
      for (const decision of kycDecisions) {
        const decided = decide({ kycStatus, kycVersion: 3 }, decision)
        t.strictSame(
          decided,
          kycStatus === decision ? null : { status: decision, version: 4 },
          `${kycStatus} → ${decision}`,
        )
      }
    }
  },
)
