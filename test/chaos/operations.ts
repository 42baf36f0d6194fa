import { fromMinorUnits } from '@backoffice/contracts'
import type { Timed } from './linearizability.ts'

export const withdrawalDecisions = ['cancel', 'approve', 'reject', 'pay'] as const
export type WithdrawalDecision = (typeof withdrawalDecisions)[number]

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

const textOf = (value: unknown) => (typeof value === 'bigint' ? fromMinorUnits(value) : String(value))

/** A line for a person. */
export function describeOperation({ client, call, answer, attempts, calledAt, returnedAt }: PlayerOperation): string {
  const { kind, ...asked } = call
  const times = `${calledAt.toFixed(0)}–${returnedAt === Number.POSITIVE_INFINITY ? '?' : returnedAt.toFixed(0)}`
  return `${times} ${client} ${kind}(${Object.values(asked).map(textOf).join(', ')}) → ${describeAnswer(answer)}${attempts > 1 ? ` after ${attempts} attempts` : ''}`
}

function describeAnswer(answer: Answer | undefined): string {
  switch (answer?.kind) {
    case undefined:
      return 'unknown'
    case 'record':
      return `${answer.id} ${answer.status}`
    case 'refused':
      return `${answer.code} ${answer.status ?? ''}`.trim()
    case 'wallet':
      return `available ${fromMinorUnits(answer.available)}, withdrawable ${fromMinorUnits(answer.withdrawable)}`
    case 'statement':
      return `${answer.items.length} items, balance ${fromMinorUnits(answer.items.at(-1)?.balanceAfter ?? 0n)}`
    default:
      return answer satisfies never
  }
}
