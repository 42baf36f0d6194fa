import { createHash } from 'node:crypto'
import { fromMinorUnits } from '@backoffice/contracts'
import type { Model, Timed } from './linearizability.ts'

export type WithdrawalDecision = 'cancel' | 'approve' | 'reject' | 'pay'

/** What a client asks for. Amounts are minor units. */
export type Call =
  | { readonly kind: 'createDeposit'; readonly amount: bigint }
  | { readonly kind: 'confirmDeposit' | 'failDeposit'; readonly depositId: string; readonly amount: bigint }
  | { readonly kind: 'requestWithdrawal'; readonly amount: bigint }
  | { readonly kind: WithdrawalDecision; readonly withdrawalId: string }
  | { readonly kind: 'readWallet' | 'readStatement' }
  | { readonly kind: 'readWithdrawal'; readonly withdrawalId: string }

export type Answer =
  /** The record as it is now. */
  | { readonly kind: 'record'; readonly id: string; readonly status: string }
  /** `status` is that of the record, where the refusal names it. */
  | { readonly kind: 'refused'; readonly code: string; readonly status: string | undefined }
  | { readonly kind: 'wallet'; readonly available: bigint; readonly withdrawable: bigint }
  /** Oldest first. */
  | { readonly kind: 'statement'; readonly items: readonly StatementItem[] }

export interface StatementItem {
  /** Of the deposit or withdrawal. */
  readonly referenceId: string
  /** Signed. */
  readonly amount: bigint
  readonly balanceAfter: bigint
}

/** One operation of a client, with all its attempts. Times are of this process's monotonic clock, in milliseconds. */
export interface PlayerOperation extends Timed {
  readonly client: string
  readonly call: Call
  /** Undefined when the client never heard the outcome. */
  readonly answer: Answer | undefined
  readonly attempts: number
}

const textOf = (value: unknown) =>
  JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? fromMinorUnits(part) : part))

/** A line for a person. */
export function describeOperation({ client, call, answer, attempts, calledAt, returnedAt }: PlayerOperation): string {
  const times = `${calledAt.toFixed(0)}–${returnedAt === Number.POSITIVE_INFINITY ? '?' : returnedAt.toFixed(0)}`
  const told = answer?.kind === 'statement' ? { items: answer.items.length, last: answer.items.at(-1) } : answer
  return `${times} ${client} ${textOf(call)} → ${textOf(told) ?? 'unknown'}${attempts > 1 ? ` after ${attempts} attempts` : ''}`
}

type WithdrawalStatus = 'under_review' | 'approved' | 'paid' | 'rejected' | 'cancelled'

const none = {}
const moves: Readonly<Record<WithdrawalStatus, Readonly<Partial<Record<WithdrawalDecision, WithdrawalStatus>>>>> = {
  under_review: { cancel: 'cancelled', approve: 'approved', reject: 'rejected' },
  approved: { pay: 'paid' },
  paid: none,
  rejected: none,
  cancelled: none,
}

interface WithdrawalState {
  readonly amount: bigint
  readonly status: WithdrawalStatus
}

/** A wallet as the specification describes it: what is in it, what open withdrawals reserve, and its statement. */
export interface WalletState {
  readonly available: bigint
  readonly deposits: ReadonlyMap<string, 'confirmed' | 'failed'>
  readonly withdrawals: ReadonlyMap<string, WithdrawalState>
  /** A digest of all items in their order. */
  readonly statement: string
}

const emptyStatement = ''

export function digestOf(items: readonly StatementItem[], from = emptyStatement): string {
  return items.reduce(
    (digest, { referenceId, amount, balanceAfter }) =>
      createHash('sha1').update(`${digest} ${referenceId} ${amount} ${balanceAfter}`).digest('base64'),
    from,
  )
}

/**
 * The wallet of one player. Reading a single withdrawal is not part of it: its status may be shown a moment after the
 * money has moved, so `withdrawalModel` judges it.
 */
export function walletModel(history: readonly PlayerOperation[]): Model<WalletState, PlayerOperation> {
  const unfinished = unfinishedRequests(history)
  return {
    initial: { available: 0n, deposits: new Map(), withdrawals: new Map(), statement: emptyStatement },
    keyOf: (state) => {
      const withdrawals = [...state.withdrawals].map(([id, { status }]) => `${id}=${status}`)
      return [state.statement, ...[...state.deposits].map(String), ...withdrawals].sort().join()
    },
    step: (state, operation) => {
      const { call, answer } = operation
      switch (call.kind) {
        case 'createDeposit':
        case 'readWithdrawal':
          return state
        case 'confirmDeposit':
        case 'failDeposit':
          return settle(state, { ...operation, call })
        case 'requestWithdrawal':
          return request(state, { ...operation, call }, mayBeReserved(state, unfinished.get(operation)))
        case 'readWallet': {
          if (answer?.kind !== 'wallet') return state
          const missing = withdrawable(state) - answer.withdrawable
          const explained = mayBeReserved(state, unfinished.get(operation)).has(missing)
          return answer.available === state.available && explained ? state : null
        }
        case 'readStatement':
          return answer?.kind !== 'statement' || digestOf(answer.items) === state.statement ? state : null
        default:
          return decide(state, { ...operation, call })
      }
    },
  }
}

type Of<Kind extends Call['kind']> = PlayerOperation & { readonly call: Extract<Call, { readonly kind: Kind }> }

function settle(state: WalletState, { call, answer }: Of<'confirmDeposit' | 'failDeposit'>): WalletState | null {
  const known = state.deposits.get(call.depositId)
  if (answer?.kind === 'refused') return known !== undefined && answer.status === known ? state : null
  if (known !== undefined) return answer === undefined ? state : null
  const status = call.kind === 'confirmDeposit' ? 'confirmed' : 'failed'
  const settled = { ...state, deposits: new Map(state.deposits).set(call.depositId, status) }
  return status === 'failed' ? settled : post(settled, call.depositId, call.amount)
}

function request(
  state: WalletState,
  operation: Of<'requestWithdrawal'>,
  reservedBesides: ReadonlySet<bigint>,
): WalletState | null {
  const { call, answer } = operation
  const isCovered = withdrawable(state) >= call.amount
  if (answer?.kind === 'refused') {
    return [...reservedBesides].some((amount) => withdrawable(state) - amount < call.amount) ? state : null
  }
  if (!isCovered) return answer === undefined ? state : null
  const { amount } = call
  return withWithdrawal(state, withdrawalIdOf(operation), { amount, status: 'under_review' })
}

function decide(state: WalletState, { call, answer }: Of<WithdrawalDecision>): WalletState | null {
  const withdrawal = state.withdrawals.get(call.withdrawalId)
  if (withdrawal === undefined) return null
  const { amount, status } = withdrawal
  const next = moves[status][call.kind]
  if (answer?.kind === 'refused') return next === undefined && answer.status === status ? state : null
  if (next === undefined) return answer === undefined ? state : null
  const decided = withWithdrawal(state, call.withdrawalId, { amount, status: next })
  return next === 'paid' ? post(decided, call.withdrawalId, -amount) : decided
}

function post(state: WalletState, referenceId: string, amount: bigint): WalletState {
  const available = state.available + amount
  const statement = digestOf([{ referenceId, amount, balanceAfter: available }], state.statement)
  return { ...state, available, statement }
}

const withWithdrawal = (state: WalletState, id: string, withdrawal: WithdrawalState): WalletState => ({
  ...state,
  withdrawals: new Map(state.withdrawals).set(id, withdrawal),
})

function withdrawable({ available, withdrawals }: WalletState): bigint {
  let reserved = 0n
  for (const { amount, status } of withdrawals.values()) {
    if (status === 'under_review' || status === 'approved') reserved += amount
  }
  return available - reserved
}

/** A request whose answer nobody heard has an id that nobody knows. */
const withdrawalIdOf = ({ client, calledAt, answer }: PlayerOperation): string =>
  answer?.kind === 'record' ? answer.id : `unknown of ${client} at ${calledAt}`

/**
 * A request that died half-way has reserved money for a withdrawal that nobody sees yet. That money is given back when
 * nobody comes back for it, and reserved anew when somebody does. So beside such a request `withdrawable` may be lower
 * than the withdrawals say.
 * @returns for each operation the requests that overlap it and had to be sent more than once, or have no answer
 */
function unfinishedRequests(history: readonly PlayerOperation[]): Map<PlayerOperation, PlayerOperation[]> {
  const repeated = history.filter(
    ({ call, answer, attempts }) => call.kind === 'requestWithdrawal' && (attempts > 1 || answer === undefined),
  )
  return new Map(
    history.map((operation) => [
      operation,
      repeated.filter(
        (other) =>
          other !== operation && other.calledAt < operation.returnedAt && operation.calledAt < other.returnedAt,
      ),
    ]),
  )
}

/** The sums that such requests may have reserved; 0 is one of them. */
function mayBeReserved(state: WalletState, requests: readonly PlayerOperation[] = []): ReadonlySet<bigint> {
  const sums = new Set([0n])
  for (const operation of requests) {
    if (operation.call.kind !== 'requestWithdrawal' || state.withdrawals.has(withdrawalIdOf(operation))) continue
    for (const sum of [...sums]) sums.add(sum + operation.call.amount)
  }
  return sums
}

/** The status of one withdrawal, as its decisions and reads show it. */
export function withdrawalModel(id: string): Model<WithdrawalStatus | null, PlayerOperation> {
  return {
    initial: null,
    keyOf: (status) => String(status),
    step: (status, { call, answer }) => {
      if (call.kind === 'requestWithdrawal') return status === null ? 'under_review' : null
      if (status === null) return null
      if (call.kind === 'readWithdrawal') return answer?.kind !== 'record' || answer.status === status ? status : null
      const next = moves[status][call.kind as WithdrawalDecision]
      if (answer?.kind === 'refused') return next === undefined && answer.status === status ? status : null
      if (next === undefined) return answer === undefined ? status : null
      return answer?.kind !== 'record' || (answer.id === id && answer.status === next) ? next : null
    },
  }
}

/** The operations that `withdrawalModel` judges. */
export const isAbout =
  (id: string) =>
  ({ call, answer }: PlayerOperation): boolean =>
    'withdrawalId' in call
      ? call.withdrawalId === id
      : call.kind === 'requestWithdrawal' && answer?.kind === 'record' && answer.id === id
