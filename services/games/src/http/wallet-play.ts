import { lineOf, payout, walletReels } from '../domain/slot.ts'
import type { StakedSession } from '../storage/demonstrations.ts'
import { type SpinAnswer, spinName, type WalletProvider, type WalletSpin } from '../wallet-provider.ts'

/** What the page shows of the wallet that it plays for, and which spin is next. @returns undefined when the game is not served */
export async function stakedView(provider: WalletProvider | undefined, session: StakedSession) {
  if (provider === undefined) return undefined
  const [balance, spin] = await Promise.all([provider.readBalance(session), provider.nextNumber(session)])
  return { balance, spin }
}

/** A spin for the money of the sandbox's wallet. Its outcome follows from its number, so that it is the same when it is sent again. */
export async function spinOfWallet(
  provider: WalletProvider,
  spin: Omit<WalletSpin, 'win'>,
): Promise<{ readonly status: number; readonly body: object }> {
  const line = lineOf(walletReels, provider.secret, spinName(spin.session, spin.number))
  const answer = await provider.spin({ ...spin, win: spin.stake * BigInt(payout(walletReels, line)) })
  const next = spin.number + 1
  switch (answer.is) {
    case 'played':
      return {
        status: 200,
        body: { line, win: answer.win, balance: answer.balance, isOld: answer.isOld, spin: next },
      }
    case 'refused':
      return refused(answer, next)
    case 'not taken':
      return { status: 503, body: { error: limits.has(answer.code) ? 'limited' : 'unavailable', spin: spin.number } }
    case 'unknown':
      return { status: 503, body: { error: 'asking', spin: spin.number } }
    default:
      return answer satisfies never
  }
}

const limits: ReadonlySet<string> = new Set(['RATE_LIMITED', 'DAILY_QUOTA_EXCEEDED'])

/** What the page calls it. */
const refusals: Readonly<Record<string, string>> = {
  INSUFFICIENT_FUNDS: 'balance',
  PLAYER_NOT_ACTIVE: 'inactive',
  KYC_NOT_APPROVED: 'unchecked',
  OPERATOR_SUSPENDED: 'suspended',
  PROVIDER_SUSPENDED: 'suspended',
  TRANSACTION_CONFLICT: 'elsewhere',
}
const over: ReadonlySet<string> = new Set([
  'SESSION_EXPIRED',
  'SESSION_NOT_FOUND',
  'GAME_NOT_FOUND',
  'PLAYER_NOT_FOUND',
])

function refused({ code, reason }: Extract<SpinAnswer, { is: 'refused' }>, next: number) {
  if (over.has(code)) return { status: 401, body: { error: 'expired' } }
  const limit = reason === 'daily_limit' ? 'overLimit' : 'excluded'
  return { status: 409, body: { error: code === 'RG_BLOCKED' ? limit : (refusals[code] ?? 'refused'), spin: next } }
}
