import t from 'tap'
import { type Exploration, endIsWithinReach, explore, type Model } from './explore.ts'
import { type OneEffectGuard, oneEffect, oneEffectGuards } from './one-effect.ts'
import { type WithdrawalGuard, withdrawalGuards, withdrawalRequest } from './withdrawal.ts'

t.setTimeout(600_000)

/** With two, a run takes a second. With three it takes half a minute and finds the same promises kept. */
const attempts = Number(process.env.MODEL_ATTEMPTS ?? 2)

/** Looks for a state that breaks one promise, whatever else is broken on the way. */
function exploreFor<State>(model: Model<State>, promise: string): Exploration {
  if (promise === endIsWithinReach) return explore({ ...model, invariants: {} })
  const holds = model.invariants[promise]
  if (holds === undefined) throw new Error(`the model promises nothing like "${promise}"`)
  return explore({ ...model, invariants: { [promise]: holds } })
}

t.test('one effect: the design keeps every promise in every state', async (t) => {
  const { states, counterexample } = explore(oneEffect(attempts))
  t.comment(`claim, operation, command and completion, ${attempts} attempts at once: ${states} states`)
  t.equal(counterexample, null)
})

t.test("a withdrawal's request: the design keeps every promise in every state", async (t) => {
  const { states, counterexample } = explore(withdrawalRequest())
  t.comment(`intent, hold and withdrawal, 2 replicas and 3 references: ${states} states`)
  t.equal(counterexample, null)
})

/** The promise that is broken without a guard. */
const oneEffectMutants: readonly (readonly [dropped: readonly OneEffectGuard[], promise: string])[] = [
  [['lease'], 'of many requests with one key, one goes on'],
  [['lease ends by itself'], endIsWithinReach],
  [['token when a reply is stored'], 'a request hears the reply of its own operation'],
  [['token when a lease is ended'], 'of many requests with one key, one goes on'],
  [['first writer wins', 'token when a reply is stored'], 'what is stored is what is answered'],
  [['stored reply of the same operation'], 'a request hears the reply of its own operation'],
  [['operation id outlives a 5xx'], 'no effect under an operation id that the key has left behind'],
  [['tombstone'], 'no effect under an operation id that the key has left behind'],
  [['unique operation id'], 'one effect under an operation id'],
  [['effect and reply in one transaction'], 'one effect under an operation id'],
  [['reply waits for the command'], 'who hears of the effect finds the money'],
  [['reference'], 'money moves once'],
  [['order in the outbox'], 'the event leaves after the money has moved'],
  [['inbox'], 'one delivery for an event'],
]

const withdrawalMutants: readonly (readonly [dropped: readonly WithdrawalGuard[], promise: string])[] = [
  [['one intent per operation id'], 'nothing is refused for want of its own money'],
  [['compare-and-set of the intent'], 'a withdrawal under review has an open hold'],
  [['release with the abandonment'], 'an open hold has a withdrawal, an intent or a release under way'],
  [['tombstone in the wallet'], 'an open hold has a withdrawal, an intent or a release under way'],
  [['refusal is kept'], 'an open hold has a withdrawal, an intent or a release under way'],
  [['new intent waits for the release'], 'nothing is refused for want of its own money'],
  [['deadline of an insert'], 'nothing is refused for want of its own money'],
  [['operation with a reply begins no intent'], 'an operation that has its reply begins no intent'],
]

t.test('without any one guard a promise is broken, and the model shows how', async (t) => {
  const shows = (dropped: readonly string[], promise: string, { counterexample }: Exploration) => {
    t.equal(counterexample?.broken, promise, `without ${dropped.join(' and ')}`)
    t.comment(counterexample?.trace.join(' → '))
  }
  for (const [dropped, promise] of oneEffectMutants) shows(dropped, promise, exploreFor(oneEffect(2, dropped), promise))
  for (const [dropped, promise] of withdrawalMutants)
    shows(dropped, promise, exploreFor(withdrawalRequest(dropped), promise))
  t.strictSame(guardsOf(oneEffectMutants), [...oneEffectGuards].sort(), 'each guard of the first model has its mutant')
  t.strictSame(guardsOf(withdrawalMutants), [...withdrawalGuards].sort(), 'and each of the second')
})

const guardsOf = (mutants: readonly (readonly [readonly string[], string])[]) =>
  [...new Set(mutants.flatMap(([dropped]) => dropped))].sort()

t.test('that the first writer wins is a second wall: the token alone keeps the promises, too', async (t) => {
  t.equal(explore(oneEffect(2, ['first writer wins'])).counterexample, null)
})

t.test('the search names the shortest way to a broken promise, and a state without a way out', async (t) => {
  const counter = (steps: (count: number) => readonly (readonly [string, number])[]): Model<number> => ({
    initial: [0],
    steps,
    invariants: { 'the count is not 4': (count) => count !== 4 },
    isDone: (count) => count === 3,
  })
  const oneOrTwo = counter((count) =>
    count < 4
      ? [
          ['one', count + 1],
          ['two', count + 2],
        ]
      : [],
  )
  t.strictSame(explore(oneOrTwo), {
    states: 6,
    counterexample: { broken: 'the count is not 4', trace: ['two', 'two'] },
  })
  const intoAPit = counter((count) =>
    count === 0
      ? [
          ['home', 3],
          ['pit', 7],
        ]
      : [],
  )
  t.strictSame(explore(intoAPit), { states: 3, counterexample: { broken: endIsWithinReach, trace: ['pit'] } })
  const roundAndOut = counter((count) =>
    count === 0
      ? [
          ['out', 3],
          ['round', 1],
        ]
      : count === 1
        ? [['back', 0]]
        : [],
  )
  t.strictSame(explore(roundAndOut), { states: 3, counterexample: null })
})
