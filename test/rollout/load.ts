import { setTimeout } from 'node:timers/promises'
import type { OperatorClient } from '@backoffice/test-kit'
import { expectStatus, fund } from '../journey.ts'

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
