import {
  type Input,
  operations,
  otherPlayersMax,
  Rejection,
  type Reply,
  seenOfWithdrawal,
  sumRowsMax,
  type Transition,
  type WithdrawalFacts,
} from '@backoffice/contracts'
import { faultOfApproval, faultOfPaymentFile } from '@backoffice/team-access/identity'
import { lists, textColumns } from '@backoffice/team-rows'
import { printRecord, printSection } from '../output.ts'
import { countedEnvironment, decisionColumns, listed, ofAllOperators, row, waitingColumns } from '../row.ts'
import type { Session } from '../session.ts'

export const deposits = [
  // A brand is an operator in one environment, so there is no list of both.
  listed(lists.deposits, { wording: { environment: { default: 'production' } } }),
  row({
    path: 'deposits sum',
    operation: operations.payments.sumDeposits,
    wording: { environment: { default: 'production' } },
    show: showSums,
  }),
  row({
    path: 'deposits show',
    operation: operations.payments.showDeposit,
    arguments: ['depositId'],
    show: showWithHistory,
  }),
]

const {
  ageWithdrawalQueue,
  countWithdrawalQueue,
  listOddWithdrawals,
  timeWithdrawalDecisions,
  showWithdrawal,
  sumWithdrawals,
  decideWithdrawal,
  makePaymentFile,
  showPaymentFile,
  discardPaymentFile,
} = operations.payments

type Withdrawal = Reply<typeof showWithdrawal>

const decisions = {
  approve: 'Approve a withdrawal under review; it waits for its payment',
  reject: 'Reject a withdrawal under review; its money is free again',
  pay: 'Record that an approved withdrawal was paid: the wallet is debited',
  fail: 'Record that the payment of an approved withdrawal failed; its money is free again',
} as const

export const withdrawals = [
  row({
    path: lists.waitingWithdrawals.command,
    operation: lists.waitingWithdrawals.operation,
    fixed: ofAllOperators.fixed,
    wording: { ...ofAllOperators.wording, status: { default: 'under_review' } },
    columns: [
      ...textColumns(lists.waitingWithdrawals),
      ['new', ({ facts }) => newIn(facts)],
      ['also of players', ({ facts }) => sharedWith(facts)],
      ['deposits 30 d', ({ facts }) => facts.deposits30Days.amount],
      ['paid 30 d', ({ facts }) => facts.withdrawals30Days.amount],
    ],
  }),
  row({
    path: 'withdrawals count',
    operation: countWithdrawalQueue,
    wording: countedEnvironment,
    columns: ['status', ...waitingColumns],
  }),
  row({
    path: 'withdrawals ages',
    operation: ageWithdrawalQueue,
    columns: ['status', ['from hours', 'fromHours'], 'waiting', 'amount', 'currency'],
  }),
  row({
    path: 'withdrawals odd',
    operation: listOddWithdrawals,
    show({ data, shared }) {
      printSection('largest', data, [
        ...(['id', 'status', 'createdAt', 'playerName', 'operatorName', 'amount', 'currency'] as const),
        ['first withdrawal', 'firstWithdrawal'],
      ])
      printSection('shared destinations', shared, [
        ['oldest withdrawal', 'withdrawalId'],
        ...(['players', 'waiting', 'amount', 'currency'] as const),
      ])
    },
  }),
  row({ path: 'withdrawals times', operation: timeWithdrawalDecisions, columns: decisionColumns }),
  listed(lists.withdrawals, ofAllOperators),
  row({ path: 'withdrawals sum', operation: sumWithdrawals, ...ofAllOperators, show: showSums }),
  row({
    path: 'withdrawals show',
    operation: showWithdrawal,
    arguments: ['withdrawalId'],
    async run({ session, input }) {
      const { approval, ...withdrawal } = await session.call(showWithdrawal, input)
      if (!approval) return withdrawal
      const fault = await faultOfApproval(session, { approval, ...withdrawal })
      return { ...withdrawal, approval: saidOf(approval.actor, fault) }
    },
    show: ({ facts, balance, ...withdrawal }) =>
      showWithHistory({
        ...withdrawal,
        ...(balance === null ? { available: 'the wallet does not answer' } : balance),
        ...linesOf(facts),
      }),
  }),
  ...(Object.keys(decisions) as (keyof typeof decisions)[]).map((decision) =>
    row({
      path: `withdrawals ${decision}`,
      operation: decideWithdrawal,
      description: decisions[decision],
      arguments: ['withdrawalId'],
      fixed: {
        ...{ decision, playerId: undefined, amount: undefined, currency: undefined, destinationDigest: undefined },
        ...(decision === 'pay' ? {} : { paymentFile: undefined }),
      },
      look: findApproved,
      confirm: askAbout,
      run: ({ session, input, seen, operationId }) =>
        session.call(decideWithdrawal, { ...input, ...seenOfWithdrawal(seen) }, operationId),
    }),
  ),
  row({ path: 'withdrawals make-file', operation: makePaymentFile }),
  row({
    path: 'withdrawals show-file',
    operation: showPaymentFile,
    arguments: ['fileId'],
    async run({ session, input }) {
      const file = await session.call(showPaymentFile, input)
      return { ...file, making: saidOf(file.madeBy, await faultOfPaymentFile(session, file)) }
    },
    show({ withdrawals: filed, ...file }) {
      printRecord(file)
      printSection('withdrawals', filed, ['id', 'status', 'amount', 'currency'])
    },
  }),
  row({ path: 'withdrawals discard-file', operation: discardPaymentFile, arguments: ['fileId'] }),
]

/** Each status for itself, and of how many records. */
function showSums({ data, isWhole }: Reply<typeof sumWithdrawals | typeof operations.payments.sumDeposits>): void {
  printRecord({ of: isWhole ? 'all that were asked for' : `the first ${sumRowsMax} that the list has` })
  printSection('', data as readonly (typeof data)[number][], [
    'status',
    'count',
    ['amount', ({ amount, currency }) => `${amount} ${currency}`],
  ])
}

/** A deposit or withdrawal, then who changed it, when, from what to what and why. */
function showWithHistory({ transitions, ...record }: { readonly transitions: readonly Transition[] }): void {
  printRecord(record)
  printSection('history', transitions, [
    'at',
    ['who', ({ by }) => `${by.kind} ${by.name}`],
    'from',
    'to',
    ['why', 'reason'],
  ])
}

const saidOf = (actor: string, fault: string | null): string =>
  fault === null ? `by ${actor}, verified` : `not proven: ${fault}`

/** Whoever answered is not believed: what is paid must be what was approved. In the sandbox nobody is paid. */
async function findApproved(
  { withdrawalId, decision }: Pick<Input<typeof decideWithdrawal>, 'withdrawalId' | 'decision'>,
  session: Session,
): Promise<Withdrawal> {
  const withdrawal = { ...(await session.call(showWithdrawal, { withdrawalId })), id: withdrawalId }
  if (decision !== 'pay' || withdrawal.environment === 'sandbox') return withdrawal
  const because = await faultOfApproval(session, withdrawal)
  if (because !== null) throw new Rejection('NOT_AS_APPROVED', { withdrawalId, because })
  return withdrawal
}

function newIn({ firstWithdrawal, destinationUsedBefore }: WithdrawalFacts): string {
  // Of a first withdrawal every destination is new.
  return firstWithdrawal ? 'first withdrawal' : destinationUsedBefore ? 'nothing' : 'destination'
}

/** How many other players are paid to the same destination, and the first of them. */
function sharedWith({ otherPlayers }: WithdrawalFacts): string {
  const { count = 0, players = [] } = otherPlayers ?? {}
  if (count === 0) return 'none'
  const named = players.map(({ playerId, playerName }) => (playerName ? `${playerId} ${playerName}` : playerId))
  return `${count}${count < otherPlayersMax.counted ? '' : ' or more'}: ${named.join(', ')}`
}

function linesOf(facts: WithdrawalFacts): object {
  const { deposits30Days, withdrawals30Days, otherPlayers: _, ...others } = facts
  const lineOf = ({ count, amount }: WithdrawalFacts['deposits30Days']) => `${count}, together ${amount}`
  return {
    ...others,
    alsoOfPlayers: sharedWith(facts),
    deposits30Days: lineOf(deposits30Days),
    withdrawals30Days: lineOf(withdrawals30Days),
  }
}

/** What a person decides about: for whom, how much and to where. The id alone says nothing of that. */
function askAbout(
  { decision, withdrawalId }: Input<typeof decideWithdrawal>,
  { playerId, environment, amount, currency, method, destination, status }: Reply<typeof showWithdrawal>,
): string {
  // What the operator wrote stands last and in quotes, so that it cannot pass for a part of the question.
  const to = `${JSON.stringify(method)} ${JSON.stringify(destination)}`
  return `${decision} ${withdrawalId} (${status}), ${amount} ${currency} of player ${playerId} in ${environment}, to ${to}?`
}
