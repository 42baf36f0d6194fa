import type { BatchFault } from '@backoffice/database'
import type { Manner } from '../src/gatherer.ts'

export interface Item {
  readonly id: number
  readonly names?: readonly string[]
  readonly owner?: string
  readonly bytes?: number
  expired?: boolean
}

/** Runs that the test ends by hand. */
export function held() {
  const batches: { ids: number[]; alone: boolean; lockTimeoutMs: number; end: (outcome?: Error) => void }[] = []
  const run = (items: readonly Item[], manner: Manner) =>
    new Promise<number[]>((resolve, reject) => {
      const ids = items.map(({ id }) => id)
      batches.push({ ids, ...manner, end: (error) => (error === undefined ? resolve(ids) : reject(error)) })
    })
  return { batches, run, ids: () => batches.map(({ ids }) => ids) }
}

export const options = {
  batchMax: 10,
  queueMax: 100,
  apart: ({ names = [] }: Item) => names,
  isExpired: ({ expired = false }: Item) => expired,
  bytesOf: ({ bytes = 0 }: Item) => bytes,
}
export const failing = (fault: BatchFault) => ({ faultOf: () => fault })

export const turn = () => new Promise((resolve) => setImmediate(resolve))
/** Long enough for whatever goes on by itself. */
export const turns = async () => {
  for (let count = 0; count < 5; count++) await turn()
}
