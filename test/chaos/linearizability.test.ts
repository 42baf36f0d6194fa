import fc from 'fast-check'
import t from 'tap'
import { linearize, type Model, type Timed } from './linearizability.ts'

/** A register: the smallest thing that a history can be about. */
interface RegisterOperation extends Timed {
  readonly write?: number
  /** What was read. A read whose answer nobody heard fits everywhere. */
  readonly read?: number | undefined
}

const register: Model<number, RegisterOperation> = {
  initial: 0,
  step: (value, { write, read }) => {
    if (write !== undefined) return write
    return read === undefined || read === value ? value : null
  },
  keyOf: String,
}

const unknown = Number.POSITIVE_INFINITY
t.test('beyond its limit of states it says that it does not know', async (t) => {
  const writes = Array.from({ length: 12 }, (_, index) => ({ calledAt: 0, returnedAt: 100, write: index + 1 }))
  t.equal(linearize([...writes, { calledAt: 101, returnedAt: 102, read: 99 }], register, 50).verdict, 'undecided')
})

t.test('it finds an order exactly where trying all orders finds one', async () => {
  const operation = fc.record({
    calledAt: fc.integer({ min: 0, max: 8 }),
    lasts: fc.option(fc.integer({ min: 1, max: 6 }), { nil: unknown }),
    value: fc.integer({ min: 0, max: 2 }),
    writes: fc.boolean(),
  })
  const anyHistory = fc.array(operation, { maxLength: 6 }).map((operations) =>
    operations.map(({ calledAt, lasts, value, writes }): RegisterOperation => {
      const times = { calledAt, returnedAt: calledAt + lasts }
      return writes ? { ...times, write: value } : { ...times, read: value }
    }),
  )
  fc.assert(
    fc.property(anyHistory, (history) => {
      return (linearize(history, register).verdict === 'linearizable') === someOrderFits(history, 0)
    }),
    { numRuns: 1_000 },
  )
})

/** The definition, word for word: far too slow for anything long. */
function someOrderFits(rest: readonly RegisterOperation[], value: number): boolean {
  if (rest.every(({ returnedAt }) => returnedAt === unknown)) return true
  const firstReturn = Math.min(...rest.map(({ returnedAt }) => returnedAt))
  return rest.some((operation) => {
    if (operation.calledAt > firstReturn) return false
    const after = register.step(value, operation)
    return (
      after !== null &&
      someOrderFits(
        rest.filter((other) => other !== operation),
        after,
      )
    )
  })
}
