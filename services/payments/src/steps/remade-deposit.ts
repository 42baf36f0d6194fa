import type { Deposit as PublicDeposit } from '@backoffice/contracts'
import type { ReadDb, RemadeReply } from '@backoffice/service-runtime'
import { beforeSettling } from '../domain/deposit.ts'
import { findDeposits } from '../storage/deposits.ts'
import { publicDeposit } from '../views/deposit.ts'

/**
 * The reply of a creation or a confirmation says no more than the deposit does, of which only the status changes: from
 * pending, once. When a confirmation is taken back, a refusal is stored in place of its reply.
 */
export const remadeDeposit: RemadeReply<PublicDeposit> = {
  resultOf: ({ id, status }) => `${id} ${status}`,
  async remake(result: string, db: ReadDb) {
    const [id = '', status] = result.split(' ')
    const [deposit] = await findDeposits(db, [id])
    if (deposit === undefined) return null
    const shown = status === 'pending' ? beforeSettling(deposit) : deposit
    return shown.status === status ? publicDeposit(shown) : null
  },
}
