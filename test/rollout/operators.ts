import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { eventually, type OperatorClient } from '@backoffice/test-kit'
import { balanceOf, statementOf, sumOf } from '../journey.ts'
import type { Fleet } from './fleet.ts'

export interface Operator {
  readonly id: string
  readonly name: string
  readonly key: string
  readonly secret: string
  readonly webhookSecret: string
}

/** A new operator's sandbox. The first answer may have to wait for services that are only just there. */
export async function newOperator({ bed }: Pick<Fleet, 'bed'>, rateLimitPerMinute = 1_000_000): Promise<Operator> {
  const input = { name: `operator ${randomUUID().slice(0, 8)}`, rateLimitPerMinute }
  const created = await eventually(() => bed.team('alice').call(operations.gateway.createOperator, { input }))
  const { key, secret, webhookSecret } = created.sandbox
  return { id: created.operatorId, name: created.name, key, secret: secret ?? '', webhookSecret: webhookSecret ?? '' }
}

/** Every item of the statement sums to the balance. */
export async function statementAgrees(client: OperatorClient, playerId: string): Promise<boolean> {
  const amounts = (await statementOf(client, playerId, 200)).map(({ amount }) => amount)
  return sumOf(amounts) === sumOf([await balanceOf(client, playerId)])
}
