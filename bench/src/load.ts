import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { OperatorClient, type System } from '@backoffice/test-kit'

/** Runs `work` for each index, `clients` at a time. */
export async function inParallel(
  { count, clients }: { readonly count: number; readonly clients: number },
  work: (index: number) => Promise<void>,
): Promise<void> {
  let next = 0
  const client = async () => {
    while (next < count) {
      const index = next
      next += 1
      await work(index)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
}

/** How many times a second `clients` at once get `work` done, while `durationMs` lasts. */
export async function rate(
  { clients, durationMs }: { readonly clients: number; readonly durationMs: number },
  work: () => Promise<void>,
): Promise<number> {
  const startedAt = performance.now()
  let done = 0
  const client = async () => {
    while (performance.now() - startedAt < durationMs) {
      await work()
      done += 1
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return (done * 1000) / (performance.now() - startedAt)
}

/** Keys of a new operator whose rate limit no load here reaches. */
export async function newKeys(system: System): Promise<{ readonly key: string; readonly secret: string }> {
  const team = await system.asTeam('alice')
  const input = { name: `bench ${randomUUID().slice(0, 8)}`, rateLimitPerMinute: 10_000_000 }
  const { sandbox } = await team.call(operations.gateway.createOperator, { input })
  return { key: sandbox.key, secret: sandbox.secret ?? '' }
}

export async function newOperator(system: System, connections: number): Promise<OperatorClient> {
  return new OperatorClient(system.baseUrl, await newKeys(system), connections)
}

export const newPlayer = () => ({
  externalId: randomUUID(),
  name: 'Ana Souza',
  email: 'ana@example.com',
  cpf: '52998224725',
  birthDate: '1990-05-17',
})

/** The value that this share of the values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor((sorted.length - 1) * share)] ?? 0
}
