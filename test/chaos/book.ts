import { type Answer, amountText, type Call, type PlayerOperation } from './operations.ts'
import type { Player } from './player.ts'

/** What the books of a player should say, from what its clients were told and read at the end. */
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

  const told = toldStatuses(history)
  const statuses = finalStatuses(history)
  const entered = Map.groupBy(statement.items, ({ referenceId }) => referenceId)
  for (const [id, items] of entered) {
    if (items.length > 1) complain(`${id} is in the statement ${items.length} times`)
    const expected = deposits.get(id) ?? negative(withdrawals.get(id))
    const [item] = items
    if (expected === undefined) complain(`the statement has ${id}, which no client created`)
    else if (item?.amount !== expected) complain(`${id} is in the statement with ${amountText(item?.amount ?? 0n)}`)
  }
  for (const [id, known] of told) {
    const [moved] = entered.get(id) ?? []
    const moves = known.has('confirmed') || known.has('paid')
    if (moves && moved === undefined) complain(`${id} was told as ${[...known]} and is not in the statement`)
    if (known.has('failed') && moved !== undefined) complain(`${id} was told as failed and is in the statement`)
  }
  for (const [id, status] of statuses) {
    if ((status === 'paid') !== entered.has(id)) complain(`${id} is ${status}, and the statement says otherwise`)
    for (const one of told.get(id) ?? []) {
      const passed = one === 'under_review' || passedThrough[status]?.includes(one)
      if (!passed) complain(`${id} was told as ${one} and is ${status} at the end`)
    }
  }

  let balance = 0n
  for (const { amount, balanceAfter, referenceId } of statement.items) {
    balance += amount
    if (balance !== balanceAfter) complain(`after ${referenceId} the statement does not add up`)
  }
  if (wallet.available !== balance) complain(`available is ${amountText(wallet.available)}, not ${amountText(balance)}`)
  const reserved = [...statuses]
    .filter(([, status]) => open.includes(status))
    .reduce((sum, [id]) => sum + (withdrawals.get(id) ?? 0n), 0n)
  const possible = subsetSums(unansweredRequests(history)).map((besides) => balance - reserved - besides)
  if (!possible.includes(wallet.withdrawable)) {
    complain(`withdrawable is ${amountText(wallet.withdrawable)}, not ${possible.map(amountText).join(' or ')}`)
  }

  const confirmed = [...entered.keys()].filter((id) => deposits.has(id))
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

const negative = (amount: bigint | undefined) => (amount === undefined ? undefined : -amount)

/** Every status that a change of a record was answered with. */
function toldStatuses(history: readonly PlayerOperation[]): ReadonlyMap<string, ReadonlySet<string>> {
  const told = new Map<string, Set<string>>()
  for (const { call, answer } of history) {
    if (answer?.kind !== 'record' || call.kind === 'readWithdrawal') continue
    told.set(answer.id, (told.get(answer.id) ?? new Set()).add(answer.status))
  }
  return told
}

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
