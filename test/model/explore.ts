/** A system of which every state can be reached by steps of its parts. States are plain data and are never changed. */
export interface Model<State> {
  readonly initial: readonly State[]
  /** What may happen next: each step with its words in a trace, and the state that it leads to. */
  steps(state: State): Iterable<readonly [words: string, next: State]>
  /** What must be true in every state, by name. */
  readonly invariants: Readonly<Record<string, (state: State) => boolean>>
  /** Whether nothing is left to do. Such a state must stay within reach, whatever has happened so far. */
  isDone(state: State): boolean
}

export interface Exploration {
  readonly states: number
  /** Null when every invariant holds in every state, and the end can be reached from each of them. */
  readonly counterexample: { readonly broken: string; readonly trace: readonly string[] } | null
}

export const endIsWithinReach = 'the end stays within reach'

/** A model with more states is too large for a test of seconds, or has a number in it that grows for ever. */
const statesMax = 2_000_000

/**
 * Visits every state of a model, breadth first, so that a counterexample has as few steps as possible. The fields of a
 * state keep their order (`{ ...state, field }` does), because equal states are told by their JSON.
 */
export function explore<State>(model: Model<State>): Exploration {
  const found: Found<State>[] = []
  const numbers = new Map<string, number>()
  const visit = (state: State, from: number, words: string): number => {
    const text = JSON.stringify(state)
    const known = numbers.get(text)
    if (known !== undefined) return known
    numbers.set(text, found.length)
    return found.push({ state, from, words, before: [] }) - 1
  }
  for (const state of model.initial) visit(state, -1, '')
  for (let number = 0; number < found.length; number++) {
    const { state } = found[number] as Found<State>
    for (const [name, holds] of Object.entries(model.invariants))
      if (!holds(state))
        return { states: found.length, counterexample: { broken: name, trace: traceTo(found, number) } }
    for (const [words, next] of model.steps(state)) {
      const after = visit(next, number, words)
      if (after !== number) found[after]?.before.push(number)
    }
    if (found.length > statesMax) throw new Error(`the model has more than ${statesMax} states`)
  }
  const stuck = firstStuck(found, model)
  const counterexample = stuck === -1 ? null : { broken: endIsWithinReach, trace: traceTo(found, stuck) }
  return { states: found.length, counterexample }
}

interface Found<State> {
  readonly state: State
  /** The state from which it was first reached, and the words of that step. */
  readonly from: number
  readonly words: string
  /** Every state that leads to it in one step. */
  readonly before: number[]
}

function traceTo<State>(found: readonly Found<State>[], number: number): string[] {
  const trace: string[] = []
  for (let at = found[number]; at !== undefined && at.from >= 0; at = found[at.from]) trace.unshift(at.words)
  return trace
}

/** Walks back from the ends. What is never met on the way cannot reach one. */
function firstStuck<State>(found: readonly Found<State>[], model: Model<State>): number {
  const reaches = found.map(({ state }) => model.isDone(state))
  const waiting = [...reaches.keys()].filter((number) => reaches[number])
  for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
    for (const before of found[number]?.before ?? []) {
      if (reaches[before]) continue
      reaches[before] = true
      waiting.push(before)
    }
  }
  return reaches.indexOf(false)
}
