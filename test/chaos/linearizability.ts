/**
 * Whether operations that overlapped could have happened one at a time, each at some moment between its call and its
 * return. It is the search of Wing and Gong with the memory that Lowe added, as Knossos and Porcupine use it. It knows
 * nothing of what is tested, only a model.
 */
export interface Timed {
  readonly calledAt: number
  /** Infinity when nobody knows whether the operation happened. It may then have happened at any time, or never. */
  readonly returnedAt: number
}

export interface Model<State, Op> {
  readonly initial: State
  /** @returns the state after the operation, or null when it cannot have happened, with this answer, in this state */
  step(state: State, operation: Op): State | null
  /** The same text for the same state. */
  keyOf(state: State): string
}

export type Judgement<Op> =
  | { readonly verdict: 'linearizable'; readonly order: readonly Op[] }
  /** `order` is the longest that was found; nothing that returned first among the rest fits behind it. */
  | { readonly verdict: 'impossible'; readonly order: readonly Op[] }
  /** More states than the limit were visited. */
  | { readonly verdict: 'undecided'; readonly order: readonly Op[] }

/** A place in the list of calls and returns, ordered by time. */
interface Entry<Op> {
  /** Of the operation. */
  readonly index: number
  readonly operation: Op
  readonly time: number
  /** Of a call only. */
  readonly returning: Entry<Op> | undefined
  previous: Entry<Op> | undefined
  next: Entry<Op> | undefined
}

const statesMaxDefault = 2_000_000

export function linearize<State, Op extends Timed>(
  history: readonly Op[],
  model: Model<State, Op>,
  statesMax = statesMaxDefault,
): Judgement<Op> {
  const head = linked(history)
  const taken: { readonly entry: Entry<Op>; readonly before: State }[] = []
  const visited = new Set<string>()
  let state = model.initial
  let done = 0n
  let longest: readonly Op[] = []
  const orderNow = () => taken.map(({ entry }) => entry.operation)

  let entry = head.next
  while (entry !== undefined) {
    if (entry.returning !== undefined) {
      const after = model.step(state, entry.operation)
      const doneAfter = done | (1n << BigInt(entry.index))
      if (after !== null && isNew(visited, `${doneAfter.toString(36)} ${model.keyOf(after)}`)) {
        if (visited.size > statesMax) return { verdict: 'undecided', order: longest }
        taken.push({ entry, before: state })
        state = after
        done = doneAfter
        lift(entry)
        entry = head.next
      } else entry = entry.next
      continue
    }
    // An operation that has returned was not taken, and nothing that was called before its return can be taken instead.
    if (entry.time === Number.POSITIVE_INFINITY) break
    if (taken.length > longest.length) longest = orderNow()
    const last = taken.pop()
    if (last === undefined) return { verdict: 'impossible', order: longest }
    state = last.before
    done &= ~(1n << BigInt(last.entry.index))
    putBack(last.entry)
    entry = last.entry.next
  }
  return { verdict: 'linearizable', order: orderNow() }
}

function isNew(visited: Set<string>, key: string): boolean {
  if (visited.has(key)) return false
  visited.add(key)
  return true
}

/** @returns an entry before the first */
function linked<Op extends Timed>(history: readonly Op[]): Entry<Op> {
  const entries = history.flatMap((operation, index): Entry<Op>[] => {
    const none = { index, operation, previous: undefined, next: undefined }
    const returning: Entry<Op> = { ...none, time: operation.returnedAt, returning: undefined }
    return [{ ...none, time: operation.calledAt, returning }, returning]
  })
  // A call at the same moment as a return counts as before it: then the two may have overlapped.
  entries.sort((one, other) => one.time - other.time || rank(one) - rank(other))
  const head: Entry<Op> = { ...(entries[0] as Entry<Op>), index: -1, time: Number.NEGATIVE_INFINITY, next: undefined }
  let previous = head
  for (const entry of entries) {
    entry.previous = previous
    previous.next = entry
    previous = entry
  }
  return head
}

const rank = ({ returning }: Entry<unknown>) => (returning === undefined ? 1 : 0)

/** Takes a call and its return out of the list. They keep their neighbours, so that they can be put back. */
function lift<Op>(call: Entry<Op>): void {
  for (const entry of [call, call.returning]) {
    if (entry?.previous !== undefined) entry.previous.next = entry.next
    if (entry?.next !== undefined) entry.next.previous = entry.previous
  }
}

/** In the opposite order. */
function putBack<Op>(call: Entry<Op>): void {
  for (const entry of [call.returning, call]) {
    if (entry?.previous !== undefined) entry.previous.next = entry
    if (entry?.next !== undefined) entry.next.previous = entry
  }
}
