import fc from 'fast-check'
import type { Test } from 'tap'
import type { BatchFault } from '../src/gatherer.ts'
import { Gatherer } from '../src/index.ts'
import { turn } from './held-runs.ts'

/** Arrivals, runs and faults in any order. */
export function propertyTest(t: Test): void {
  t.test('whatever happens, each item is answered once, and namesakes run apart and in order', async (t) => {
    const name = fc.constantFrom('a', 'b', 'c', 'd')
    const arrival = fc.record({
      names: fc.uniqueArray(name, { maxLength: 2 }),
      owner: fc.constantFrom('x', 'y', 'z'),
      bytes: fc.integer({ min: 0, max: 120 }),
      /** Turns of the event loop before it arrives. */
      pause: fc.integer({ min: 0, max: 2 }),
      poison: fc.boolean(),
    })
    const settings = fc.record({
      arrivals: fc.array(arrival, { minLength: 1, maxLength: 40 }),
      batchMax: fc.integer({ min: 1, max: 5 }),
      concurrency: fc.integer({ min: 1, max: 3 }),
      /** How long each run takes, and how it ends. */
      runs: fc.array(
        fc.record({
          turns: fc.integer({ min: 0, max: 3 }),
          fault: fc.constantFrom<BatchFault | null>(null, null, 'again', 'alone', 'locked', 'everyone'),
        }),
        { minLength: 1, maxLength: 10 },
      ),
    })
    class Fault extends Error {
      readonly fault: BatchFault
      constructor(fault: BatchFault) {
        super(fault)
        this.fault = fault
      }
    }
    await fc.assert(
      fc.asyncProperty(settings, async ({ arrivals, batchMax, concurrency, runs }) => {
        const items = arrivals.map((arrival, id) => ({ ...arrival, id }))
        const busy = new Set<string>()
        const done: number[] = []
        let count = 0
        const gatherer = new Gatherer({
          batchMax,
          concurrency,
          queueMax: 100,
          bytesMax: 150,
          bytesOf: ({ bytes }: (typeof items)[number]) => bytes,
          ownerOf: ({ owner }) => owner,
          apart: ({ names }) => names,
          faultOf: (error) => (error as Fault).fault,
          async run(batch, { alone }) {
            const names = batch.flatMap((item) => item.names)
            if (new Set(names).size !== names.length || names.some((each) => busy.has(each)))
              throw new Error('namesakes met')
            if (batch.length > batchMax || (alone && batch.length !== 1)) throw new Error('too many')
            if (batch.length > 1 && batch.reduce((sum, { bytes }) => sum + bytes, 0) > 150) throw new Error('too large')
            for (const each of names) busy.add(each)
            const { turns, fault } = runs[count++ % runs.length] as (typeof runs)[number]
            for (let index = 0; index < turns; index++) await turn()
            for (const each of names) busy.delete(each)
            if (fault !== null) throw new Fault(fault)
            if (batch.some(({ poison }) => poison)) throw new Fault('alone')
            done.push(...batch.map(({ id }) => id))
            return batch.map(({ id }) => id)
          },
        })
        const answers: Promise<string>[] = []
        for (const item of items) {
          for (let index = 0; index < item.pause; index++) await turn()
          answers.push(
            gatherer.add(item).then(
              (result) => (result === item.id ? 'answered' : 'answered wrongly'),
              (error) => (error instanceof Fault ? 'failed' : String(error)),
            ),
          )
        }
        const outcomes = await Promise.all(answers)
        for (const [id, outcome] of outcomes.entries()) {
          if (outcome !== 'answered' && outcome !== 'failed') return false
          if (outcome === 'answered' && (items[id]?.poison || done.filter((other) => other === id).length !== 1))
            return false
          if (outcome === 'failed' && done.includes(id)) return false
        }
        for (const each of ['a', 'b', 'c', 'd'] as const) {
          const order = done.filter((id) => items[id]?.names.includes(each))
          if (order.some((id, index) => index > 0 && id < (order[index - 1] as number))) return false
        }
        return true
      }),
      { numRuns: 300 },
    )
    t.pass()
  })
}
