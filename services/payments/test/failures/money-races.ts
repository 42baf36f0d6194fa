import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { inLanes, seenWithdrawal } from '@backoffice/test-kit'
import { sweepIntents } from '../../src/withdrawals/request.ts'
import type { MoneyPath } from '../money-path.ts'

/** A call, on whatever side it is made. It has the same operation id each time. */
export type Call = (side: MoneyPath) => Promise<unknown>

/** Players with an approved identity and 10.00, made several at a time, which takes little longer than one. */
export class Players {
  readonly #path: MoneyPath
  #ready: string[] = []

  constructor(path: MoneyPath) {
    this.#path = path
  }

  async next(): Promise<string> {
    if (this.#ready.length === 0)
      this.#ready = await inLanes(Array(40).fill('10.00'), (amount) => this.#path.newPlayerWith(amount))
    return this.#ready.pop() as string
  }
}

interface Stage {
  readonly path: MoneyPath
  readonly playerId: string
}

/** Calls that are made at once, on the records of one player. */
export interface Pair {
  readonly title: string
  readonly set: (given: Stage) => Promise<readonly Call[]>
  /** The outcomes that are right, in the order of the calls: `done`, or the code of a refusal. */
  readonly outcomes: readonly string[]
}

const withId = (call: (side: MoneyPath, operationId: string) => Promise<unknown>): Call => {
  const operationId = randomUUID()
  return (side) => call(side, operationId)
}

const create = (playerId: string, externalReference: string = randomUUID()) =>
  withId((side, id) => side.createDeposit(playerId, { externalReference }, id))
const confirm = (depositId: string) => withId((side, id) => side.confirm(depositId, id))
const failDeposit = (depositId: string) => withId((side, operationId) => side.fail(depositId, { operationId }))
const request = (playerId: string, amount = '10.00') =>
  withId((side, id) => side.requestWithdrawal(playerId, { amount }, id))
const cancel = (withdrawalId: string) => withId((side, id) => side.cancel(withdrawalId, id))
type Decision = 'approve' | 'reject' | 'pay' | 'fail'

/** What the person saw is read before: it is no part of the race. */
async function decide(path: MoneyPath, user: 'alice' | 'bob', withdrawalId: string, decision: Decision) {
  const input = { ...(await seenWithdrawal(path.bed.team(user), withdrawalId)), decision }
  return withId(({ bed }, operationId) =>
    bed.team(user).call(operations.payments.decideWithdrawal, { input, operationId }),
  )
}
const sweep: Call = ({ bed }) => sweepIntents(bed.services.payments, { abandonAfterMs: -1 })

async function approvedWithdrawal(path: MoneyPath, playerId: string): Promise<string> {
  const { id } = await path.requestWithdrawal(playerId, { amount: '3.00' })
  await path.decide('alice', id, 'approve')
  return id
}

async function limitDay(path: MoneyPath, playerId: string, dailyDepositLimit: string): Promise<void> {
  await path.bed.team('carol').call(operations.players.setDailyLimit, { input: { playerId, dailyDepositLimit } })
}

const twice = (call: Call): readonly Call[] => [call, call]

/** Two calls, of which each could make the other go wrong. */
export const pairs: readonly Pair[] = [
  {
    title: 'two deposits, of which the daily limit leaves room for one',
    outcomes: ['done, RG_BLOCKED', 'RG_BLOCKED, done'],
    async set({ path, playerId }) {
      await limitDay(path, playerId, '25.00')
      return [create(playerId), create(playerId)]
    },
  },
  {
    title: 'two deposits with one reference',
    outcomes: ['done, DEPOSIT_ALREADY_EXISTS', 'DEPOSIT_ALREADY_EXISTS, done'],
    async set({ playerId }) {
      const externalReference = randomUUID()
      return [create(playerId, externalReference), create(playerId, externalReference)]
    },
  },
  {
    title: 'one deposit, sent twice under one operation id',
    outcomes: ['done, done'],
    set: async ({ playerId }) => twice(create(playerId)),
  },
  {
    title: 'one confirmation, sent twice under one operation id',
    outcomes: ['done, done'],
    set: async ({ path, playerId }) => twice(confirm((await path.createDeposit(playerId)).id)),
  },
  {
    title: 'a deposit is confirmed and failed',
    outcomes: ['done, DEPOSIT_NOT_PENDING', 'DEPOSIT_NOT_PENDING, done'],
    async set({ path, playerId }) {
      const { id } = await path.createDeposit(playerId)
      return [confirm(id), failDeposit(id)]
    },
  },
  {
    title: 'two withdrawals of the same money',
    outcomes: ['done, INSUFFICIENT_FUNDS', 'INSUFFICIENT_FUNDS, done'],
    set: async ({ playerId }) => [request(playerId), request(playerId)],
  },
  {
    title: 'one withdrawal, sent twice under one operation id',
    outcomes: ['done, done'],
    set: async ({ playerId }) => twice(request(playerId)),
  },
  {
    title: 'a withdrawal, while intents are swept',
    outcomes: ['done, done'],
    set: async ({ playerId }) => [request(playerId), sweep],
  },
  {
    title: 'a withdrawal is cancelled and approved',
    outcomes: ['done, WITHDRAWAL_INVALID_STATE', 'WITHDRAWAL_NOT_CANCELLABLE, done'],
    async set({ path, playerId }) {
      const { id } = await path.requestWithdrawal(playerId)
      return [cancel(id), await decide(path, 'alice', id, 'approve')]
    },
  },
  {
    title: 'a withdrawal is paid and failed',
    outcomes: ['done, WITHDRAWAL_INVALID_STATE', 'WITHDRAWAL_INVALID_STATE, done'],
    async set({ path, playerId }) {
      const id = await approvedWithdrawal(path, playerId)
      return Promise.all([decide(path, 'alice', id, 'pay'), decide(path, 'bob', id, 'fail')])
    },
  },
  {
    title: 'a deposit is confirmed while its money is withdrawn',
    outcomes: ['done, done', 'done, INSUFFICIENT_FUNDS'],
    set: async ({ path, playerId }) => [confirm((await path.createDeposit(playerId)).id), request(playerId, '20.00')],
  },
  {
    title: 'a withdrawal is cancelled while its money is withdrawn again',
    outcomes: ['done, done', 'done, INSUFFICIENT_FUNDS'],
    set: async ({ path, playerId }) => [cancel((await path.requestWithdrawal(playerId)).id), request(playerId)],
  },
]

/** What is there before three calls: money, and a record in each state that a call can change. */
interface Records extends Stage {
  /** Pending. */
  readonly depositId: string
  /** Under review. */
  readonly requestedId: string
  readonly approvedId: string
}

const steps: Readonly<Record<string, (records: Records) => Call | Promise<Call>>> = {
  create: ({ playerId }) => create(playerId),
  confirm: ({ depositId }) => confirm(depositId),
  failDeposit: ({ depositId }) => failDeposit(depositId),
  request: ({ playerId }) => request(playerId, '3.00'),
  cancel: ({ requestedId }) => cancel(requestedId),
  approve: ({ path, requestedId }) => decide(path, 'alice', requestedId, 'approve'),
  reject: ({ path, requestedId }) => decide(path, 'bob', requestedId, 'reject'),
  pay: ({ path, approvedId }) => decide(path, 'bob', approvedId, 'pay'),
  failPayment: ({ path, approvedId }) => decide(path, 'alice', approvedId, 'fail'),
  sweep: () => sweep,
}
export const stepNames = Object.keys(steps)

/**
 * Sets the stage for several calls. Of the player's 10.00, 6.00 are reserved, and each new withdrawal is of 3.00. Today
 * there is room for one more deposit, which is of 10.00.
 */
export async function callsOf({ path, playerId }: Stage, names: readonly string[]): Promise<readonly Call[]> {
  const approvedId = await approvedWithdrawal(path, playerId)
  const [{ id: depositId }, { id: requestedId }] = await Promise.all([
    path.createDeposit(playerId, { amount: '3.00' }),
    path.requestWithdrawal(playerId, { amount: '3.00' }),
    limitDay(path, playerId, '28.00'),
  ])
  const records = { path, playerId, depositId, requestedId, approvedId }
  return Promise.all(names.map((name) => (steps[name] as (typeof steps)[string])(records)))
}
