import type { Model } from './explore.ts'

/**
 * One Idempotency-Key from its claim to its reply and its event: claim → operation → command → completion. Several
 * attempts use the key at once. The model is harsher than the world:
 *
 * - A process that dies takes no further step, and any process may be that slow. So every step may come late or never.
 * - A lease may end at any moment, while its holder goes on.
 * - A message that was sent may arrive at any time, as often as it likes, or never.
 * - The key may expire at any moment, and then be used again.
 */
export interface OneEffect {
  readonly claim: Claim | null
  readonly attempts: readonly Attempt[]
  /** By operation id. */
  readonly operations: readonly Operation[]
}

/** The gateway's row for the key. */
interface Claim {
  readonly operation: number
  /** The attempt that claimed it last. */
  readonly token: number
  readonly leased: boolean
  readonly expired: boolean
  readonly stored: Reply | null
}

/** A reply as its bytes: of which operation, and with the request id of which attempt. */
interface Reply {
  readonly operation: number
  readonly requestId: number
}

/** A request at the gateway. */
interface Attempt {
  readonly at: 'away' | 'calling' | 'waiting' | 'completing' | 'releasing' | 'resolving' | 'forgetting'
  readonly operation: number
  /** Whether its lease runs. */
  readonly leased: boolean
}

/** What the services keep of an operation id, and of what follows from it. */
interface Operation {
  readonly sent: boolean
  /** The row under the operation id: the stored reply, or the tombstone that refuses late messages. */
  readonly row: 'none' | 'replied' | 'abandoned'
  readonly effects: number
  /** An effect was committed when the key stood for it no more. */
  readonly late: boolean
  /** The command in the outbox, and what it did in the wallet. */
  readonly command: 'none' | 'waiting' | 'done'
  readonly transfers: number
  /** The event in the outbox, in the stream, and as deliveries. */
  readonly event: 'none' | 'waiting' | 'done'
  readonly published: boolean
  readonly deliveries: number
  /** The replies that the clients of this operation heard. */
  readonly heard: readonly Reply[]
}

/** The guards of the design. A mutant of the model drops some of them. */
export const oneEffectGuards = [
  'lease',
  'lease ends by itself',
  'token when a reply is stored',
  'token when a lease is ended',
  'first writer wins',
  'stored reply of the same operation',
  'operation id outlives a 5xx',
  'tombstone',
  'unique operation id',
  'effect and reply in one transaction',
  'reply waits for the command',
  'reference',
  'order in the outbox',
  'inbox',
] as const
export type OneEffectGuard = (typeof oneEffectGuards)[number]

/** One for the key's first use, and one for its use after it has expired. */
const operationsMax = 2
/** Twice is once too often; a model that counts further has no end. */
const countMax = 2

const away: Attempt = { at: 'away', operation: 0, leased: false }
const unknown: Operation = {
  ...{ sent: false, row: 'none', effects: 0, late: false, command: 'none', transfers: 0 },
  ...{ event: 'none', published: false, deliveries: 0, heard: [] },
}

const onceMore = (count: number) => Math.min(count + 1, countMax)

/** @param attempts how many requests with the key there are at one time */
export function oneEffect(attempts: number, dropped: readonly OneEffectGuard[] = []): Model<OneEffect> {
  const has = (guard: OneEffectGuard) => !dropped.includes(guard)
  type Step = readonly [string, OneEffect]

  function* steps(state: OneEffect): Iterable<Step> {
    const { claim } = state
    for (const [number, attempt] of state.attempts.entries()) yield* stepsOfAttempt(state, number, attempt)
    if (claim?.leased && has('lease ends by itself')) yield ['the lease ends', endLease(state)]
    // The last operation id that the model has is not followed by another one.
    if (claim !== null && !claim.expired && claim.operation < operationsMax - 1)
      yield ['the key expires', { ...state, claim: { ...claim, expired: true } }]
    for (const [id, operation] of state.operations.entries())
      for (const [words, next] of stepsOfOperation(operation, claim?.operation === id))
        yield [`operation ${id}: ${words}`, withOperation(state, id, next)]
  }

  function* stepsOfAttempt(state: OneEffect, number: number, attempt: Attempt): Iterable<Step> {
    const { claim } = state
    const operation = state.operations[attempt.operation] as Operation
    const isHolder = claim?.token === number && claim.operation === attempt.operation
    const become = (next: Partial<Attempt>, changed = state): OneEffect => ({
      ...changed,
      attempts: changed.attempts.with(number, { ...attempt, ...next }),
    })
    if (attempt.at !== 'away') yield [`attempt ${number} dies`, become(away)]
    switch (attempt.at) {
      case 'away':
        yield* claims(state, number)
        break
      case 'calling':
        yield [
          `attempt ${number} calls the service`,
          become({ at: 'waiting' }, withOperation(state, attempt.operation, { ...operation, sent: true })),
        ]
        break
      case 'waiting':
        yield [`attempt ${number} hears nothing in time`, become({ at: 'releasing' })]
        if (operation.row === 'replied' && (operation.command === 'done' || !has('reply waits for the command')))
          yield [`attempt ${number} gets the service's reply`, become({ at: 'completing' })]
        break
      case 'completing': {
        const reply = { operation: attempt.operation, requestId: number }
        const isFree = claim?.stored === null || !has('first writer wins')
        if (claim !== null && isFree && (isHolder || !has('token when a reply is stored'))) {
          const stored = { ...state, claim: { ...claim, stored: reply, leased: false } }
          yield [`attempt ${number} stores its reply and sends it`, hear(become(away, stored), attempt, reply)]
        } else if (
          claim?.stored &&
          (claim.operation === attempt.operation || !has('stored reply of the same operation'))
        )
          yield [`attempt ${number} sends the stored reply`, hear(become(away), attempt, claim.stored)]
        else yield [`attempt ${number} answers that another one is in progress`, become(away)]
        break
      }
      case 'releasing': {
        const ends = claim !== null && claim.stored === null && (isHolder || !has('token when a lease is ended'))
        if (!ends) yield [`attempt ${number} answers 503`, become(away)]
        else if (has('operation id outlives a 5xx'))
          yield [
            `attempt ${number} ends the lease and answers 503`,
            become(away, { ...state, claim: { ...claim, leased: false } }),
          ]
        else yield [`attempt ${number} forgets the key and answers 503`, become(away, { ...state, claim: null })]
        break
      }
      case 'resolving': {
        const abandoned = operation.row === 'none' && has('tombstone')
        const next = abandoned ? withOperation(state, attempt.operation, { ...operation, row: 'abandoned' }) : state
        yield [`attempt ${number} has operation ${attempt.operation} resolved`, become({ at: 'forgetting' }, next)]
        break
      }
      case 'forgetting': {
        const forgets = claim?.expired && claim.stored === null && claim.operation === attempt.operation
        yield [`attempt ${number} forgets the key`, become(away, forgets ? { ...state, claim: null } : state)]
        break
      }
      default:
        attempt.at satisfies never
    }
  }

  /** The claim statement, which also judges expiry. */
  function* claims(state: OneEffect, number: number): Iterable<Step> {
    const { claim, operations } = state
    const take = (operation: number): OneEffect => ({
      claim: {
        operation,
        token: number,
        leased: true,
        expired: claim?.operation === operation && claim.expired,
        stored: null,
      },
      attempts: state.attempts.with(number, { at: 'calling', operation, leased: true }),
      operations: operation < operations.length ? operations : [...operations, unknown],
    })
    const isRunning = claim?.leased === true && has('lease')
    if (claim === null || (claim.expired && claim.stored !== null)) {
      if (operations.length < operationsMax)
        yield [`attempt ${number} claims the key for operation ${operations.length}`, take(operations.length)]
    } else if (claim.stored !== null) {
      const replayed = { ...away, operation: claim.operation }
      yield [`attempt ${number} gets a replay`, hear(state, replayed, claim.stored)]
    } else if (isRunning) return
    else if (claim.expired) {
      const resolving: Attempt = { at: 'resolving', operation: claim.operation, leased: false }
      const next = { ...state, attempts: state.attempts.with(number, resolving) }
      yield [`attempt ${number} finds the key expired and its outcome unknown`, next]
    } else yield [`attempt ${number} carries on with operation ${claim.operation}`, take(claim.operation)]
  }

  function* stepsOfOperation(operation: Operation, isOfKey: boolean): Iterable<readonly [string, Operation]> {
    const { sent, row, effects, command, transfers, event, published, deliveries } = operation
    const done = { ...operation, row: 'replied', effects: onceMore(effects) } as const
    const outbox = { command: 'waiting', event: 'waiting' } as const
    const late = operation.late || !isOfKey
    if (sent && row === 'none') {
      if (has('effect and reply in one transaction'))
        yield ['effect, outbox and reply are committed', { ...done, ...outbox, late }]
      else {
        yield ['the effect and its outbox are committed', { ...done, ...outbox, late, row: 'none' }]
        if (effects > 0) yield ['its reply is committed', { ...operation, row: 'replied' }]
      }
    }
    if (sent && row === 'replied' && !has('unique operation id'))
      yield ['the effect is committed again', { ...done, ...outbox, late }]
    // A command may reach the wallet again for as long as anybody thinks that it was not done, and later.
    if (command !== 'none' && (transfers === 0 || !has('reference')))
      yield ['the wallet takes the command', { ...operation, transfers: onceMore(transfers) }]
    if (command === 'waiting' && transfers > 0)
      yield ['the command is marked as done', { ...operation, command: 'done' }]
    if (event === 'waiting' && (command === 'done' || !has('order in the outbox')))
      yield ['the event is published', { ...operation, published: true }]
    if (event === 'waiting' && published) yield ['the event is marked as done', { ...operation, event: 'done' }]
    if (published && (deliveries === 0 || !has('inbox')))
      yield ['the event is consumed', { ...operation, deliveries: onceMore(deliveries) }]
  }

  return {
    initial: [{ claim: null, attempts: Array.from({ length: attempts }, () => away), operations: [] }],
    steps,
    invariants: {
      'of many requests with one key, one goes on': ({ attempts }) =>
        attempts.filter(({ leased }) => leased).length <= 1,
      'one effect under an operation id': ofEach(({ effects }) => effects <= 1),
      'no effect under an operation id that the key has left behind': ofEach(({ late }) => !late),
      'what is stored is what is answered': ofEach(({ heard }) => heard.length <= 1),
      'a request hears the reply of its own operation': ({ operations }) =>
        operations.every(({ heard }, id) => heard.every(({ operation }) => operation === id)),
      'who hears of the effect finds the money': ofEach(({ heard, transfers }) => heard.length === 0 || transfers > 0),
      'money moves once': ofEach(({ transfers }) => transfers <= 1),
      'the event leaves after the money has moved': ofEach(({ published, transfers }) => !published || transfers > 0),
      'one delivery for an event': ofEach(({ deliveries }) => deliveries <= 1),
    },
    isDone: ({ claim, operations }) =>
      claim !== null && claim.stored !== null && operations.every((operation) => isFinished(operation)),
  }
}

const ofEach =
  (holds: (operation: Operation) => boolean) =>
  ({ operations }: OneEffect): boolean =>
    operations.every(holds)

const isFinished = ({ effects, command, event, deliveries }: Operation): boolean =>
  effects === 0 || (command === 'done' && event === 'done' && deliveries === 1)

const withOperation = (state: OneEffect, id: number, operation: Operation): OneEffect => ({
  ...state,
  operations: state.operations.with(id, operation),
})

/** The holder does not notice. Whoever claims next becomes the only one whose lease runs. */
const endLease = (state: OneEffect): OneEffect => ({
  ...state,
  claim: state.claim && { ...state.claim, leased: false },
  attempts: state.attempts.map((attempt) => ({ ...attempt, leased: false })),
})

/** The client of an attempt hears a reply. */
function hear(state: OneEffect, { operation: id }: Attempt, reply: Reply): OneEffect {
  const operation = state.operations[id] as Operation
  const isKnown = operation.heard.some((other) => JSON.stringify(other) === JSON.stringify(reply))
  return isKnown ? state : withOperation(state, id, { ...operation, heard: [...operation.heard, reply] })
}
