import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { sweepIntents } from '../../src/withdrawals/request.ts'
import type { MoneyPath } from '../money-path.ts'

/** A call, on whatever side it is made. It has the same operation id each time. */
export type Call = (side: MoneyPath) => Promise<unknown>

/** Players with an approved identity and 10.00, made many at a time, which takes little longer than one. */
export class Players {
  readonly #path: MoneyPath
  #ready: string[] = []

  constructor(path: MoneyPath) {
    this.#path = path
  }

  async next(): Promise<string> {
    if (this.#ready.length === 0)
      this.#ready = await Promise.all(Array.from({ length: 40 }, () => this.#path.newPlayerWith('10.00')))
    return this.#ready.pop() as string
  }
}

/** Calls that are made at once, on the records of one player. */
export interface Stage {
  readonly playerId: string
  readonly calls: readonly Call[]
}

export interface Pair {
  readonly title: string
  readonly set: (given: { readonly path: MoneyPath; readonly playerId: string }) => Promise<Stage>
  /** The outcomes that are right, in the order of the calls: `done`, or the code of a refusal. */
  readonly outcomes: readonly string[]
}

const withId = (call: (side: MoneyPath, operationId: string) => Promise<unknown>): Call => {
  const operationId = randomUUID()
  return (side) => call(side, operationId)
}

async function approvedWithdrawal(path: MoneyPath, playerId: string): Promise<string> {
  const { id } = await path.requestWithdrawal(playerId, { amount: '3.00' })
  await path.decide('alice', id, 'approve')
  return id
}

async function limitDay(path: MoneyPath, playerId: string, dailyDepositLimit: string): Promise<void> {
  await path.bed.team('carol').call(operations.players.setDailyLimit, { input: { playerId, dailyDepositLimit } })
}

/** Two calls, of which each could make the other go wrong. */
export const pairs: readonly Pair[] = [
  {
    title: 'two deposits, of which the daily limit leaves room for one',
    outcomes: ['done, RG_BLOCKED', 'RG_BLOCKED, done'],
    async set({ path, playerId }) {
      await limitDay(path, playerId, '25.00')
      const create = () => {
        const externalReference = randomUUID()
        return withId((side, id) => side.createDeposit(playerId, { externalReference }, id))
      }
      return { playerId, calls: [create(), create()] }
    },
  },
  {
    title: 'two deposits with one reference',
    outcomes: ['done, DEPOSIT_ALREADY_EXISTS', 'DEPOSIT_ALREADY_EXISTS, done'],
    async set({ playerId }) {
      const externalReference = randomUUID()
      const create = () => withId((side, id) => side.createDeposit(playerId, { externalReference }, id))
      return { playerId, calls: [create(), create()] }
    },
  },
  {
    title: 'one deposit, sent twice under one operation id',
    outcomes: ['done, done'],
    async set({ playerId }) {
      const externalReference = randomUUID()
      const create = withId((side, id) => side.createDeposit(playerId, { externalReference }, id))
      return { playerId, calls: [create, create] }
    },
  },
  {
    title: 'one confirmation, sent twice under one operation id',
    outcomes: ['done, done'],
    async set({ path, playerId }) {
      const deposit = await path.createDeposit(playerId)
      const confirm = withId((side, id) => side.confirm(deposit.id, id))
      return { playerId, calls: [confirm, confirm] }
    },
  },
  {
    title: 'a deposit is confirmed and failed',
    outcomes: ['done, DEPOSIT_NOT_PENDING', 'DEPOSIT_NOT_PENDING, done'],
    async set({ path, playerId }) {
      const deposit = await path.createDeposit(playerId)
      return {
        playerId,
        calls: [
          withId((side, id) => side.confirm(deposit.id, id)),
          withId((side, operationId) => side.fail(deposit.id, { operationId })),
        ],
      }
    },
  },
  {
    title: 'two withdrawals of the same money',
    outcomes: ['done, INSUFFICIENT_FUNDS', 'INSUFFICIENT_FUNDS, done'],
    async set({ playerId }) {
      const request = () => withId((side, id) => side.requestWithdrawal(playerId, {}, id))
      return { playerId, calls: [request(), request()] }
    },
  },
  {
    title: 'one withdrawal, sent twice under one operation id',
    outcomes: ['done, done'],
    async set({ playerId }) {
      const request = withId((side, id) => side.requestWithdrawal(playerId, {}, id))
      return { playerId, calls: [request, request] }
    },
  },
  {
    title: 'a withdrawal, while intents are swept',
    outcomes: ['done, done'],
    async set({ playerId }) {
      const sweep: Call = ({ bed }) => sweepIntents(bed.services.payments, { abandonAfterMs: -1 })
      return { playerId, calls: [withId((side, id) => side.requestWithdrawal(playerId, {}, id)), sweep] }
    },
  },
  {
    title: 'a withdrawal is cancelled and approved',
    outcomes: ['done, WITHDRAWAL_INVALID_STATE', 'WITHDRAWAL_NOT_CANCELLABLE, done'],
    async set({ path, playerId }) {
      const { id } = await path.requestWithdrawal(playerId)
      return {
        playerId,
        calls: [
          withId((side, operationId) => side.cancel(id, operationId)),
          withId((side, operationId) => side.decide('alice', id, 'approve', { operationId })),
        ],
      }
    },
  },
  {
    title: 'a withdrawal is paid and failed',
    outcomes: ['done, WITHDRAWAL_INVALID_STATE', 'WITHDRAWAL_INVALID_STATE, done'],
    async set({ path, playerId }) {
      const id = await approvedWithdrawal(path, playerId)
      return {
        playerId,
        calls: [
          withId((side, operationId) => side.decide('alice', id, 'pay', { operationId })),
          withId((side, operationId) => side.decide('bob', id, 'fail', { operationId })),
        ],
      }
    },
  },
  {
    title: 'a deposit is confirmed while its money is withdrawn',
    outcomes: ['done, done', 'done, INSUFFICIENT_FUNDS'],
    async set({ path, playerId }) {
      const deposit = await path.createDeposit(playerId)
      return {
        playerId,
        calls: [
          withId((side, id) => side.confirm(deposit.id, id)),
          withId((side, id) => side.requestWithdrawal(playerId, { amount: '20.00' }, id)),
        ],
      }
    },
  },
  {
    title: 'a withdrawal is cancelled while its money is withdrawn again',
    outcomes: ['done, done', 'done, INSUFFICIENT_FUNDS'],
    async set({ path, playerId }) {
      const { id } = await path.requestWithdrawal(playerId)
      return {
        playerId,
        calls: [
          withId((side, operationId) => side.cancel(id, operationId)),
          withId((side, operationId) => side.requestWithdrawal(playerId, {}, operationId)),
        ],
      }
    },
  },
]

/** What is there before three calls: money, and a record in each state that a call can change. */
interface Records {
  readonly playerId: string
  /** Pending. */
  readonly depositId: string
  /** Under review. */
  readonly requestedId: string
  readonly approvedId: string
}

const steps: Readonly<Record<string, (records: Records) => Call>> = {
  create: ({ playerId }) => {
    const externalReference = randomUUID()
    return withId((side, id) => side.createDeposit(playerId, { externalReference }, id))
  },
  confirm: ({ depositId }) => withId((side, id) => side.confirm(depositId, id)),
  failDeposit: ({ depositId }) => withId((side, operationId) => side.fail(depositId, { operationId })),
  request: ({ playerId }) => withId((side, id) => side.requestWithdrawal(playerId, { amount: '3.00' }, id)),
  cancel: ({ requestedId }) => withId((side, id) => side.cancel(requestedId, id)),
  approve: ({ requestedId }) =>
    withId((side, operationId) => side.decide('alice', requestedId, 'approve', { operationId })),
  reject: ({ requestedId }) =>
    withId((side, operationId) => side.decide('bob', requestedId, 'reject', { operationId })),
  pay: ({ approvedId }) => withId((side, operationId) => side.decide('bob', approvedId, 'pay', { operationId })),
  failPayment: ({ approvedId }) =>
    withId((side, operationId) => side.decide('alice', approvedId, 'fail', { operationId })),
  sweep:
    () =>
    ({ bed }) =>
      sweepIntents(bed.services.payments, { abandonAfterMs: -1 }),
}
export const stepNames = Object.keys(steps)

/**
 * Sets the stage for several calls. Of the player's 10.00, 6.00 are reserved, and each new withdrawal is of 3.00. Today
 * there is room for one more deposit, which is of 10.00.
 */
export async function stageFor(
  { path, playerId }: Parameters<Pair['set']>[0],
  names: readonly string[],
): Promise<Stage> {
  const approvedId = await approvedWithdrawal(path, playerId)
  const [{ id: depositId }, { id: requestedId }] = await Promise.all([
    path.createDeposit(playerId, { amount: '3.00' }),
    path.requestWithdrawal(playerId, { amount: '3.00' }),
    limitDay(path, playerId, '28.00'),
  ])
  const records = { playerId, depositId, requestedId, approvedId }
  return { playerId, calls: names.map((name) => (steps[name] as (typeof steps)[string])(records)) }
}
