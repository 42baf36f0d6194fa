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
const write = (calledAt: number, returnedAt: number, value: number) => ({ calledAt, returnedAt, write: value })
const read = (calledAt: number, returnedAt: number, value: number) => ({ calledAt, returnedAt, read: value })

const possible: Readonly<Record<string, readonly RegisterOperation[]>> = {
  'nothing at all': [],
  'one after the other': [write(0, 1, 5), read(2, 3, 5)],
  'a read beside a write sees the value before': [write(0, 10, 5), read(1, 2, 0)],
  'a read beside a write sees the value after': [write(0, 10, 5), read(1, 2, 5)],
  'two reads beside a write: before, then after': [write(0, 10, 5), read(1, 2, 0), read(3, 4, 5)],
  'a write of unknown outcome happens late': [write(0, unknown, 5), read(10, 11, 0), read(20, 21, 5)],
  'a write of unknown outcome never happens': [write(0, unknown, 5), read(10, 11, 0), read(20, 21, 0)],
  'a call at the moment of a return may come first': [write(0, 5, 1), read(5, 6, 0)],
  'two writes beside each other, read in either order': [write(0, 10, 1), write(0, 10, 2), read(11, 12, 1)],
}
for (const [name, history] of Object.entries(possible)) {
  t.test(`linearizable: ${name}`, async (t) => {
    const { verdict, order } = linearize(history, register)
    t.equal(verdict, 'linearizable')
    const known = history.filter(({ returnedAt }) => returnedAt !== unknown)
    t.ok(
      known.every((operation) => order.includes(operation)),
      'the order has every operation that returned',
    )
  })
}

const impossible: Readonly<Record<string, readonly RegisterOperation[]>> = {
  'a read after a write sees the value before': [write(0, 1, 5), read(2, 3, 0)],
  'a value that nobody wrote': [write(0, 1, 5), read(2, 3, 6)],
  'a write is seen, and then not any more': [write(0, 10, 5), read(1, 2, 5), read(3, 4, 0)],
  'two readers see two writes in different orders': [
    write(0, 1, 1),
    write(2, 20, 2),
    write(2, 20, 3),
    read(21, 22, 2),
    read(23, 24, 3),
  ],
  'a write of unknown outcome is seen before it was called': [read(0, 1, 5), write(2, unknown, 5)],
  'a write of unknown outcome happens, and then not any more': [write(0, unknown, 5), read(10, 11, 5), read(20, 21, 0)],
}
for (const [name, history] of Object.entries(impossible)) {
  t.test(`not linearizable: ${name}`, async (t) => {
    t.equal(linearize(history, register).verdict, 'impossible')
    t.equal(linearize([...history].reverse(), register).verdict, 'impossible', 'in whatever order they are listed')
  })
}

t.test('beyond its limit of states it says that it does not know', async (t) => {
  const writes = Array.from({ length: 12 }, (_, index) => write(0, 100, index + 1))
  t.equal(linearize([...writes, read(101, 102, 99)], register, 50).verdict, 'undecided')
})

/** Operations that really happened at one moment each, somewhere between call and return. */
const realHistory = fc
  .array(
    fc.record({
      at: fc.double({ min: 0, max: 100, noNaN: true }),
      before: fc.double({ min: 0, max: 10, noNaN: true }),
      after: fc.double({ min: 0, max: 10, noNaN: true }),
      value: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
      isHeard: fc.boolean(),
    }),
    { maxLength: 30 },
  )
  .map((events): RegisterOperation[] => {
    let now = 0
    return events
      .sort((one, other) => one.at - other.at)
      .map(({ at, before, after, value, isHeard }) => {
        if (value !== undefined) now = value
        const times = { calledAt: at - before, returnedAt: isHeard ? at + after : unknown }
        return value === undefined ? { ...times, read: isHeard ? now : undefined } : { ...times, write: value }
      })
  })

t.test('whatever really happened one at a time is linearizable', async () => {
  fc.assert(
    fc.property(realHistory, (history) => linearize(history, register).verdict === 'linearizable'),
    { numRuns: 300 },
  )
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
