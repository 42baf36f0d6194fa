import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { operations } from '@backoffice/contracts'
import { eventually, type OperatorClient } from '@backoffice/test-kit'
import { balanceOf, expectStatus, fund, statementOf, sumOf } from '../journey.ts'
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

export interface Load {
  /** Requests answered as they should be, so far. */
  readonly answered: number
  /** Whole deposits that were confirmed, so far. */
  readonly deposits: number
  readonly failures: readonly string[]
  /** No further request; resolves when the last one is answered. */
  stop(): Promise<void>
}

/** What a client waits between requests: as many as the machine can do would take the processor from those who start. */
const pauseMs = 20

/** Each player's client at once, one request after the other: deposits of 1.00, confirmed, and reads. */
export function startLoad(client: OperatorClient, playerIds: readonly string[]): Load {
  const load = { answered: 0, deposits: 0, failures: [] as string[] }
  let stopped = false
  const step = async (run: () => Promise<unknown>, requests: number) => {
    await run()
    load.answered += requests
    await setTimeout(pauseMs)
  }
  const running = playerIds.map(async (playerId) => {
    while (!stopped) {
      try {
        await step(() => fund(client, playerId, '1.00'), 2)
        load.deposits += 1
        await step(async () => expectStatus(await client.get(`/players/${playerId}/wallet`), 200), 1)
        await step(async () => expectStatus(await client.get('/me'), 200), 1)
      } catch (error) {
        load.failures.push(`${new Date().toISOString()} ${error}`)
      }
    }
  })
  return Object.assign(load, {
    stop: async () => {
      stopped = true
      await Promise.all(running)
    },
  })
}
