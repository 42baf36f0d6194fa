import { operations, Rejection } from '@backoffice/contracts'
import { handle, withOperatorNames } from '@backoffice/service-runtime'
import { payTakesTwo } from '../domain/withdrawal.ts'
import { sumPaidAlone } from '../storage/paid-alone.ts'
import { scopeOf } from '../storage/scope.ts'
import { listTransitions } from '../storage/transitions.ts'
import { findWithdrawals } from '../storage/withdrawals.ts'
import { shownWithdrawals } from '../views/shown-withdrawal.ts'
import { shownTransitions } from '../views/transition.ts'
import { teamWithdrawal } from '../views/withdrawal.ts'
import { factsOf } from '../views/withdrawal-facts.ts'

/** @param payAloneUpTo in production one person may approve and pay up to this amount, in minor units */
export const showWithdrawal = ({ payAloneUpTo }: { readonly payAloneUpTo: bigint }) =>
  handle(
    operations.payments.showWithdrawal,
    async ({ input: { withdrawalId }, caller, requestId, deadline }, { db, rpc, now }) => {
      const [withdrawal] = await shownWithdrawals(db, await findWithdrawals(db, [withdrawalId]))
      if (withdrawal === undefined) throw new Rejection('WITHDRAWAL_NOT_FOUND')
      const scope = scopeOf(withdrawal)
      const { approvedBy, approvedById, playerId } = withdrawal
      const who = approvedBy === null ? caller : { name: approvedBy, id: approvedById }
      const asked = { playerId, person: who.name, personId: who.id, isMachine: false }
      const [histories, [facts], [shown], [paid = 0n]] = await Promise.all([
        listTransitions(db, [withdrawalId]),
        factsOf(db, [withdrawal], now),
        withOperatorNames([teamWithdrawal(withdrawal)], { rpc, scope, requestId, deadline }),
        sumPaidAlone(db, [asked]),
      ])
      return {
        ...(shown as NonNullable<typeof shown>),
        facts: facts as NonNullable<typeof facts>,
        destinationSalt: withdrawal.destinationSalt,
        payTakesTwo: payTakesTwo(withdrawal, { upTo: payAloneUpTo, paid }),
        transitions: shownTransitions(histories.get(withdrawalId), withdrawal),
      }
    },
  )
