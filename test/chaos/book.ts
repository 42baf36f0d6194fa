import { fromMinorUnits } from '@backoffice/contracts'
import type { Answer, Call, PlayerOperation } from './operations.ts'
import type { Player } from './player.ts'

/**
 * What the histories of a wallet and of each of its withdrawals do not show, because each is judged by itself: whether
 * the two agree at the end, and which events there were.
 */
export interface Book {
  readonly problems: readonly string[]
  /** Each event that the operator must have heard of, as `eventText` writes it. */
  readonly events: readonly string[]
}

const open = ['under_review', 'approved']
const passedThrough: Readonly<Record<string, readonly string[]>> = {
  under_review: [],
  approved: ['approved'],
  paid: ['approved', 'paid'],
  rejected: ['rejected'],
  cancelled: ['cancelled'],
}

/** @param player whose wallet, statement and withdrawals were read when nothing happened any more */
export function closeBook(
  player: Pick<Player, 'id' | 'deposits' | 'withdrawals'> & { readonly history: readonly PlayerOperation[] },
): Book {
  const { history, deposits, withdrawals } = player
  const problems: string[] = []
  const complain = (text: string) => void problems.push(text)
  const wallet = lastAnswer(history, 'readWallet', 'wallet')
  const statement = lastAnswer(history, 'readStatement', 'statement')
  if (wallet === undefined || statement === undefined) {
    return { problems: ['the wallet could not be read at the end'], events: [] }
  }

  const statuses = finalStatuses(history)
  const entered = new Set(statement.items.map(({ referenceId }) => referenceId))
  for (const [id, status] of statuses)
    if ((status === 'paid') !== entered.has(id)) complain(`${id} is ${status}, and the statement says otherwise`)

  const reserved = [...statuses]
    .filter(([, status]) => open.includes(status))
    .reduce((sum, [id]) => sum + (withdrawals.get(id) ?? 0n), 0n)
  const possible = subsetSums(unansweredRequests(history)).map((besides) => wallet.available - reserved - besides)
  if (!possible.includes(wallet.withdrawable)) {
    complain(`withdrawable is ${fromMinorUnits(wallet.withdrawable)}, not ${possible.map(fromMinorUnits).join(' or ')}`)
  }

  const confirmed = [...entered].filter((id) => deposits.has(id))
  return {
    problems,
    events: [
      `kyc.status_changed ${player.id} aprovado`,
      ...confirmed.map((id) => `deposit.confirmed ${id} confirmed`),
      ...[...statuses].flatMap(([id, status]) =>
        (passedThrough[status] ?? []).map((passed) => `withdrawal.status_changed ${id} ${passed}`),
      ),
    ],
  }
}

/** Undefined when the last read was not answered. */
function lastAnswer<Kind extends Answer['kind']>(
  history: readonly PlayerOperation[],
  read: Call['kind'],
  kind: Kind,
): Extract<Answer, { readonly kind: Kind }> | undefined {
  const answer = history.findLast(({ call }) => call.kind === read)?.answer
  return answer?.kind === kind ? (answer as Extract<Answer, { readonly kind: Kind }>) : undefined
}

export const eventText = ({ type, data }: { type: string; data: Readonly<Record<string, unknown>> }): string =>
  `${type} ${data.id ?? data.playerId} ${data.status ?? data.kycStatus}`

/** Of the withdrawals, by their last read. */
function finalStatuses(history: readonly PlayerOperation[]): ReadonlyMap<string, string> {
  const statuses = new Map<string, string>()
  for (const { call, answer } of history) {
    if (call.kind === 'readWithdrawal' && answer?.kind === 'record') statuses.set(answer.id, answer.status)
  }
  return statuses
}

/** Amounts of the requests of which nobody knows whether they were accepted. */
export const unansweredRequests = (history: readonly PlayerOperation[]): readonly bigint[] =>
  history.flatMap(({ call, answer }) =>
    call.kind === 'requestWithdrawal' && answer === undefined ? [call.amount] : [],
  )

function subsetSums(amounts: readonly bigint[]): readonly bigint[] {
  const sums = [0n]
  for (const amount of amounts) sums.push(...sums.map((sum) => sum + amount))
  return sums
}
