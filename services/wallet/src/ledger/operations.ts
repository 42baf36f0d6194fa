import { type Input, operations, Rejection, toMinorUnits } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import type { Ledger } from './ledger.ts'
import { type Target, type TransferRequest, unexpected } from './posting.ts'
import { findBalances, playerOf } from './records.ts'
import { balanceOf } from './views.ts'

/** The transfer of a deposit. A credit and its refusal must name the same one. */
function depositTransfer(
  { playerId, depositId, amount, effectiveAt }: Input<typeof operations.wallet.creditAccount>,
  given: Pick<Target, 'brandId' | 'currency'> & Pick<TransferRequest, 'transferId'>,
): Target & TransferRequest {
  return {
    ...given,
    playerId,
    reference: depositId,
    type: 'DEPOSIT',
    counterparty: 'deposits',
    amount: toMinorUnits(amount),
    effectiveAt: new Date(effectiveAt),
  }
}

export const openAccount = (ledger: Ledger) =>
  handle(operations.wallet.openAccount, async ({ input: { playerId }, scope: { brandId, currency } }) => {
    await ledger.openAccount({ brandId, playerId, currency })
    return { playerId }
  })

export const creditAccount = (ledger: Ledger) =>
  handle(operations.wallet.creditAccount, async ({ input, scope: { brandId, currency } }, { newId }) => {
    const transfer = depositTransfer(input, { brandId, currency, transferId: newId('trf') })
    const result = await ledger.post({ kind: 'credit', ...transfer })
    if (result.outcome !== 'posted') throw unexpected(result, `the credit of ${input.depositId}`)
    return { transferId: result.transferId }
  })

export const refuseCredit = (ledger: Ledger) =>
  handle(operations.wallet.refuseCredit, async ({ input, scope: { brandId, currency } }, { newId }) => {
    const transfer = depositTransfer(input, { brandId, currency, transferId: newId('trf') })
    const result = await ledger.post({ kind: 'refusal', ...transfer, reason: input.reason })
    switch (result.outcome) {
      case 'refused':
      case 'posted':
      case 'possible':
        return { state: result.outcome }
      default:
        throw unexpected(result, `the refusal of the credit of ${input.depositId}`)
    }
  })

export const openHold = (ledger: Ledger) =>
  handle(operations.wallet.openHold, async ({ input, scope: { brandId, currency } }) => {
    const { playerId, withdrawalId: reference } = input
    const amount = toMinorUnits(input.amount)
    const result = await ledger.post({ kind: 'hold', brandId, playerId, currency, reference, amount })
    if (result.outcome === 'insufficient_funds') throw new Rejection('INSUFFICIENT_FUNDS')
    if (result.outcome !== 'hold') throw unexpected(result, `the hold for ${reference}`)
    return { state: result.state }
  })

export const captureHold = (ledger: Ledger) =>
  handle(operations.wallet.captureHold, async ({ input, scope: { brandId, currency } }, { newId }) => {
    const { playerId, withdrawalId: reference } = input
    const result = await ledger.post({
      kind: 'capture',
      brandId,
      playerId,
      currency,
      reference,
      transferId: newId('trf'),
      effectiveAt: new Date(input.effectiveAt),
    })
    if (result.outcome !== 'posted') throw unexpected(result, `the capture for ${reference}`)
    return { transferId: result.transferId }
  })

export const releaseHold = (ledger: Ledger) =>
  handle(operations.wallet.releaseHold, async ({ input, scope: { brandId, currency } }) => {
    const { playerId, withdrawalId: reference } = input
    const result = await ledger.post({ kind: 'release', brandId, playerId, currency, reference })
    if (result.outcome !== 'hold') throw unexpected(result, `the release for ${reference}`)
    return { state: result.state }
  })

export const getWallet = handle(operations.wallet.getWallet, {
  async read(calls, { db }) {
    const accounts = await findBalances(db, calls.map(playerOf))
    return accounts.map((account) => {
      if (account === undefined) return new Rejection('PLAYER_NOT_FOUND')
      const { playerId, currency, updatedAt } = account
      return { playerId, currency, ...balanceOf(account), updatedAt: updatedAt.toISOString() }
    })
  },
})

export const readAccount = handle(operations.wallet.readAccount, {
  async read(calls, { db }) {
    const accounts = await findBalances(db, calls.map(playerOf))
    return accounts.map((account) =>
      account === undefined
        ? new Rejection('PLAYER_NOT_FOUND')
        : { ...balanceOf(account), updatedAt: account.updatedAt.toISOString() },
    )
  },
})

export const readBalance = handle(operations.wallet.readBalance, {
  async read(calls, { db }) {
    const accounts = await findBalances(db, calls.map(playerOf))
    return accounts.map((account) => (account === undefined ? new Rejection('PLAYER_NOT_FOUND') : balanceOf(account)))
  },
})
