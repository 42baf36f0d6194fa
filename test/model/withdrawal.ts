import type { Model } from './explore.ts'

/**
 * The request of a withdrawal, which the wallet can refuse: intent → hold → under review, beside a sweeper that gives
 * intents up. The message of the one operation reaches two replicas, as often as it likes. As in the other model, each
 * step may come late or never, and what was sent to the wallet may arrive at any time, once or often.
 */
export interface WithdrawalRequest {
  /** The stored reply under the operation id. */
  readonly reply: 'none' | 'under_review' | 'insufficient_funds'
  readonly replicas: readonly Replica[]
  /** By reference: each try has one of its own. */
  readonly tries: readonly Try[]
  /** Whether the player has the money, which is enough for one hold. */
  readonly hasMoney: boolean
  /** A hold was refused while another try of the same operation had the money. */
  readonly refusedForItsOwnMoney: boolean
  /** An intent was committed when the operation had its reply. */
  readonly begunAfterReply: boolean
}

interface Replica {
  /** Between `away` and `inserting` it has looked for earlier tries. */
  readonly at: 'away' | 'inserting' | 'asking' | 'beginning' | 'refusing' | 'storing refusal'
  /** Of its try. While it is inserting: the one that would be the next when it looked. */
  readonly reference: number
}

interface Try {
  readonly status: 'intent' | 'under_review' | 'refused' | 'abandoned'
  /** The hold was asked for: the message may reach the wallet from now on. */
  readonly asked: boolean
  readonly hold: 'none' | 'open' | 'released' | 'refused'
  /** The release in the outbox of payments. */
  readonly release: 'none' | 'waiting' | 'done'
}

export const withdrawalGuards = [
  'one intent per operation id',
  'compare-and-set of the intent',
  'release with the abandonment',
  'tombstone in the wallet',
  'refusal is kept',
  'new intent waits for the release',
  'deadline of an insert',
  'operation with a reply begins no intent',
] as const
export type WithdrawalGuard = (typeof withdrawalGuards)[number]

const triesMax = 3
const away: Replica = { at: 'away', reference: 0 }
const begun: Try = { status: 'intent', asked: false, hold: 'none', release: 'none' }

export function withdrawalRequest(dropped: readonly WithdrawalGuard[] = []): Model<WithdrawalRequest> {
  const has = (guard: WithdrawalGuard) => !dropped.includes(guard)
  type Step = readonly [string, WithdrawalRequest]

  function* steps(state: WithdrawalRequest): Iterable<Step> {
    if (!state.hasMoney) yield ['the player gets money', { ...state, hasMoney: true }]
    for (const [number, replica] of state.replicas.entries()) {
      yield* stepsOfReplica(state, replica, (next, changed = state) => ({
        ...changed,
        replicas: changed.replicas.with(number, next),
      }))
    }
    for (const [reference, each] of state.tries.entries()) yield* stepsOfTry(state, reference, each)
  }

  type Become = (next: Replica, changed?: WithdrawalRequest) => WithdrawalRequest

  function* stepsOfReplica(state: WithdrawalRequest, { at, reference }: Replica, become: Become): Iterable<Step> {
    const found = state.tries[reference] as Try
    if (at !== 'away') yield ['a replica dies', become(away)]
    switch (at) {
      case 'away':
        yield* looks(state, become)
        break
      case 'inserting':
        yield* inserts(state, become)
        break
      case 'asking':
        if (!found.asked)
          yield [
            `hold ${reference} is asked for`,
            become({ at, reference }, withTry(state, reference, { ...found, asked: true })),
          ]
        if (found.hold === 'open')
          yield [`the wallet says that hold ${reference} is open`, become({ at: 'beginning', reference })]
        if (found.hold === 'refused')
          yield [`the wallet refuses hold ${reference}`, become({ at: 'refusing', reference })]
        if (found.hold === 'released') yield [`the wallet says that hold ${reference} is released`, become(away)]
        break
      case 'beginning':
        if (state.reply !== 'none') yield ['the stored reply is found', become(away)]
        else if (found.status === 'intent' || !has('compare-and-set of the intent')) {
          const opened = withTry(state, reference, { ...found, status: 'under_review' })
          yield [
            `intent ${reference} and the reply become under_review`,
            become(away, { ...opened, reply: 'under_review' }),
          ]
        } else yield [`intent ${reference} is one no more: 503`, become(away)]
        break
      case 'refusing': {
        const refused = found.status === 'intent' ? withTry(state, reference, { ...found, status: 'refused' }) : state
        yield [`intent ${reference} is marked as refused`, become({ at: 'storing refusal', reference }, refused)]
        break
      }
      case 'storing refusal': {
        const reply = state.reply === 'none' ? 'insufficient_funds' : state.reply
        yield ['the refusal is stored', become(away, { ...state, reply })]
        break
      }
      default:
        at satisfies never
    }
  }

  /** Finds the intent of an earlier try, or commits the first one. */
  function* looks(state: WithdrawalRequest, become: Become): Iterable<Step> {
    const { tries } = state
    const current = tries.findIndex(({ status }) => status !== 'abandoned')
    switch (tries[current]?.status) {
      case 'intent':
        yield [`intent ${current} is found`, become({ at: 'asking', reference: current })]
        break
      case 'refused':
        yield [`try ${current} is found refused`, become({ at: 'storing refusal', reference: current })]
        break
    }
    if (tries.length === 0) yield* inserts(state, become)
    else if (current === -1 || !has('one intent per operation id')) {
      const isReleasing = tries.some(({ release }) => release === 'waiting')
      if (!isReleasing || !has('new intent waits for the release'))
        yield ['a replica finds abandoned tries alone', become({ at: 'inserting', reference: tries.length })]
    }
  }

  /** One statement: what it asks for holds when it is committed. */
  function* inserts(state: WithdrawalRequest, become: Become): Iterable<Step> {
    const { tries, reply } = state
    if (tries.some(({ status }) => status !== 'abandoned') && has('one intent per operation id')) return
    if (reply !== 'none' && has('operation with a reply begins no intent')) return
    if (tries.length === triesMax) return
    const next = { ...state, tries: [...tries, begun], begunAfterReply: state.begunAfterReply || reply !== 'none' }
    yield [`intent ${tries.length} is committed`, become({ at: 'asking', reference: tries.length }, next)]
  }

  function* stepsOfTry(state: WithdrawalRequest, reference: number, found: Try): Iterable<Step> {
    const { status, asked, hold, release } = found
    const become = (next: Partial<Try>, changed = state) => withTry(changed, reference, { ...found, ...next })
    const others = state.tries.some((other) => other !== found && other.hold === 'open')
    if (asked && (hold === 'none' || (hold === 'refused' && !has('refusal is kept')))) {
      if (state.hasMoney && !others) yield [`the wallet opens hold ${reference}`, become({ hold: 'open' })]
      else if (hold === 'none') {
        const refused = { ...state, refusedForItsOwnMoney: state.refusedForItsOwnMoney || others }
        yield [`the wallet keeps a refusal of hold ${reference}`, become({ hold: 'refused' }, refused)]
      }
    }
    // A retry needs one more reference than the model has, so its last intent is never abandoned.
    if (status === 'intent' && (reference < triesMax - 1 || state.reply !== 'none')) {
      const abandoned = {
        status: 'abandoned',
        release: has('release with the abandonment') ? 'waiting' : 'none',
      } as const
      yield [`the sweeper abandons intent ${reference}`, become(abandoned, dropOlder(state, reference))]
    }
    if (release === 'none') return
    if (hold === 'open') yield [`the wallet releases hold ${reference}`, become({ hold: 'released' })]
    if (hold === 'none' && has('tombstone in the wallet'))
      yield [`the wallet writes a tombstone for hold ${reference}`, become({ hold: 'released' })]
    const isDone = hold === 'released' || hold === 'refused' || (hold === 'none' && !has('tombstone in the wallet'))
    if (release === 'waiting' && isDone)
      yield [`the release of hold ${reference} is marked as done`, become({ release: 'done' })]
  }

  /** An intent is abandoned when it is older than any request lasts, so those that looked before it was made are over. */
  function dropOlder(state: WithdrawalRequest, reference: number): WithdrawalRequest {
    if (!has('deadline of an insert')) return state
    const isOver = (replica: Replica) => replica.at === 'inserting' && replica.reference <= reference
    return { ...state, replicas: state.replicas.map((replica) => (isOver(replica) ? away : replica)) }
  }

  return {
    initial: [true, false].map((hasMoney) => ({
      ...{ reply: 'none', replicas: [away, away], tries: [], hasMoney },
      ...{ refusedForItsOwnMoney: false, begunAfterReply: false },
    })),
    steps,
    invariants: {
      'a withdrawal under review has an open hold': ofEach(
        ({ status, hold }) => status !== 'under_review' || hold === 'open',
      ),
      'an open hold has a withdrawal, an intent or a release under way': ofEach(
        ({ status, hold, release }) =>
          hold !== 'open' || status === 'under_review' || status === 'intent' || release === 'waiting',
      ),
      'one withdrawal for an operation id': ({ tries }) => countOf(tries, 'under_review') <= 1,
      'the reply says what has happened': ({ tries, reply }) =>
        (reply === 'under_review') === countOf(tries, 'under_review') > 0,
      'nothing is refused for want of its own money': ({ refusedForItsOwnMoney }) => !refusedForItsOwnMoney,
      'an operation that has its reply begins no intent': ({ begunAfterReply }) => !begunAfterReply,
    },
    isDone: ({ reply, tries }) =>
      reply !== 'none' && tries.every(({ status, release }) => status !== 'intent' && release !== 'waiting'),
  }
}

const ofEach =
  (holds: (each: Try) => boolean) =>
  ({ tries }: WithdrawalRequest): boolean =>
    tries.every(holds)

const countOf = (tries: readonly Try[], wanted: Try['status']) => tries.filter(({ status }) => status === wanted).length

const withTry = (state: WithdrawalRequest, reference: number, next: Try): WithdrawalRequest => ({
  ...state,
  tries: state.tries.with(reference, next),
})
