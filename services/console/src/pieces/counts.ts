import { Readable } from 'node:stream'
import { type Operation, operations, type ServiceName } from '@backoffice/contracts'
import type { FastifyReply } from 'fastify'
import type { ConsoleContext } from '../context.ts'
import { type Person, whenAway } from '../identity/person.ts'
import type { Word } from '../words/index.ts'
import { directoryOf } from './directory.ts'
import { proposalsFor } from './open-proposals.ts'
import type { Visit } from './visit.ts'

const { countWithdrawalQueue, withdrawalQueue } = operations.payments
const { countKycQueue, kycQueue } = operations.players

const { countOpenRounds, listHeldWins } = operations.wallet

type QueueName = 'kyc' | 'toReview' | 'toPay' | 'proposals' | 'openRounds' | 'heldWins'

/** How many wait in a queue, and since when the first does. */
interface QueueState {
  readonly name: QueueName
  readonly path: string
  /** Null: the service that knows it does not answer. */
  readonly count: number | null
  readonly oldest: string | null
  readonly service?: ServiceName
  /** After so many hours somebody has reason to complain; a day when absent. */
  readonly lateAfterHours?: number
}

const notKnown = { waiting: null, oldestAt: null }

// The queues of a service that is away are there, without a number.
const unknownKyc = whenAway({ data: [notKnown] })
const unknownWithdrawals = whenAway({
  data: [
    { ...notKnown, status: 'under_review' as const },
    { ...notKnown, status: 'approved' as const },
  ],
})

/** The queues that this person may open, of one environment: everybody may count them. */
export async function queueStates(visit: Visit): Promise<readonly QueueState[]> {
  const { person, environment } = visit
  const [kyc, withdrawals, proposals, play] = await Promise.all([
    person.mayCall(kycQueue) ? person.call(countKycQueue, { environment }).catch(unknownKyc) : { data: [] },
    person.mayCall(withdrawalQueue)
      ? person.call(countWithdrawalQueue, { environment }).catch(unknownWithdrawals)
      : { data: [] },
    // In the sandbox one person is enough.
    environment === 'production' ? proposalsFor(person) : undefined,
    person.mayCall(countOpenRounds) ? playStates(visit).catch(whenAway(noPlay)) : [],
  ])
  return [
    ...kyc.data.map(
      ({ waiting: count, oldestAt: oldest }) =>
        ({ name: 'kyc', path: '/kyc', count, oldest, service: 'players' }) as const,
    ),
    ...withdrawals.data.map(({ status, waiting: count, oldestAt: oldest }) => {
      const name = status === 'approved' ? 'toPay' : 'toReview'
      return { name, path: `/withdrawals?status=${status}`, count, oldest, service: 'payments' } as const
    }),
    ...play,
    ...(proposals === undefined ? [] : [proposalState(proposals)]),
  ]
}

/** A round is begun and ended within minutes. One that stays open for a day is looked at, after three somebody is alarmed. */
export const openRoundHours = [24, 72] as const

const openRounds = { name: 'openRounds', path: '/rounds?view=open&olderThan=24h', service: 'wallet' } as const
const heldWins = { name: 'heldWins', path: '/held-wins', service: 'wallet' } as const
const noPlay: readonly QueueState[] = [openRounds, heldWins].map((one) => ({ ...one, count: null, oldest: null }))

const heldCountedMax = 1_000

/** The rounds that should have ended, and the wins that wait for two people. The wallet knows brands and no environments. */
async function playStates(visit: Visit): Promise<readonly QueueState[]> {
  const [ageing, late] = openRoundHours
  const openedBefore = new Date(visit.now.getTime() - ageing * 3_600_000).toISOString()
  const [open, held] = await Promise.all([
    visit.person.call(countOpenRounds, { openedBefore }),
    visit.person.call(listHeldWins, { limit: heldCountedMax }),
  ])
  const isEmpty = open.data.length + held.data.length === 0
  const directory = isEmpty ? undefined : await directoryOf(visit)
  // Without the gateway nobody knows whose they are.
  if (directory?.isAway) return noPlay
  const own = new Set(directory?.brandIdsIn(visit.environment))
  const isOwn = ({ brandId }: { readonly brandId: string }) => own.has(brandId)
  const waiting = held.data.filter((win) => isOwn(win) && win.releasedAt === null)
  return [
    {
      ...openRounds,
      count: open.data.filter(isOwn).reduce((sum, row) => sum + row.open, 0),
      oldest: earliest(open.data.filter(isOwn).map(({ oldestAt }) => oldestAt)),
      lateAfterHours: late,
    },
    { ...heldWins, count: waiting.length, oldest: earliest(waiting.map(({ firstAt }) => firstAt)) },
  ]
}

const earliest = (times: readonly (string | null)[]): string | null =>
  times.flatMap((time) => time ?? []).toSorted()[0] ?? null

const proposalState = (proposals: Awaited<ReturnType<typeof proposalsFor>>): QueueState => {
  return {
    name: 'proposals',
    path: '/proposals',
    count: proposals.length,
    oldest: proposals.at(-1)?.proposedAt ?? null,
  }
}

/** What is open at once: so much in all, and of one person so much that others have theirs. */
export class Seats {
  readonly #max: number
  readonly #ofOneMax: number
  readonly #taken = new Map<string, number>()
  #all = 0

  constructor({ max, ofOneMax }: { readonly max: number; readonly ofOneMax: number }) {
    this.#max = max
    this.#ofOneMax = ofOneMax
  }

  /** @returns gives it back, and is called once; undefined when there is none left for this person */
  take(person: string): (() => void) | undefined {
    const taken = this.#taken.get(person) ?? 0
    if (this.#all >= this.#max || taken >= this.#ofOneMax) return undefined
    this.#all += 1
    this.#taken.set(person, taken + 1)
    return () => {
      this.#all -= 1
      const left = (this.#taken.get(person) ?? 1) - 1
      if (left === 0) this.#taken.delete(person)
      else this.#taken.set(person, left)
    }
  }
}

interface MenuItem {
  readonly path: string
  readonly word: Word
  /** The counts that stand beside it. */
  readonly counts?: readonly QueueName[]
  /** Whoever may call one of them sees the item; everybody when absent. */
  readonly needs?: readonly Operation[]
  /** Pages elsewhere that belong to it. */
  readonly also?: readonly string[]
}

const { listDeliveries, listSetAside } = operations.webhooks
const { exportStatement } = operations.wallet
const { reconcileWallet } = operations.reconciler

const items: readonly MenuItem[] = [
  { path: '', word: 'home' },
  {
    path: '/withdrawals',
    word: 'withdrawals',
    counts: ['toReview', 'toPay'],
    needs: [withdrawalQueue],
  },
  { path: '/kyc', word: 'kyc', counts: ['kyc'], needs: [kycQueue] },
  { path: '/proposals', word: 'proposals', counts: ['proposals'] },
  { path: '/players', word: 'players', needs: [operations.players.listPlayers] },
  { path: '/deposits', word: 'deposits', needs: [operations.payments.listDeposits] },
  {
    path: '/rounds',
    word: 'rounds',
    counts: ['openRounds', 'heldWins'],
    needs: [operations.wallet.listRounds, operations.wallet.listPlayDays],
    also: ['/plays', '/held-wins', '/play-days'],
  },
  { path: '/statement', word: 'statement', needs: [exportStatement] },
  { path: '/reconcile', word: 'reconcile', needs: [reconcileWallet] },
  { path: '/operators', word: 'operators', also: ['/requests'] },
  { path: '/providers', word: 'providers', also: ['/games'] },
  {
    path: '/deliveries',
    word: 'deliveries',
    needs: [listDeliveries, listSetAside],
    also: ['/set-aside', '/endpoints'],
  },
  { path: '/audit', word: 'audit', needs: [operations.gateway.listAudit] },
  { path: '/people', word: 'people' },
]

/** What somebody finds in the menu: the pages that their roles show something on. */
export const menuFor = (person: Person): readonly MenuItem[] =>
  items.filter(({ needs }) => needs?.some((operation) => person.mayCall(operation)) ?? true)

/** A page asks again by itself. So a session that has ended, or a role that was taken away, is noticed. */
const streamMsMax = 10 * 60_000
/** Open streams of one process: each page that is open has one. */
const seats = new Seats({ max: 500, ofOneMax: 20 })

/** Sends server-sent events, until there are no more, or the page is left. */
export function sendEvents(
  { request, reply, log, person }: Visit,
  { stopping }: Pick<ConsoleContext, 'stopping'>,
  events: (signal: AbortSignal) => AsyncGenerator<string>,
): FastifyReply {
  const leave = seats.take(person.name)
  if (leave === undefined) return reply.code(503).header('Retry-After', '60').send()
  const closed = new AbortController()
  request.raw.once('close', () => closed.abort())
  const signal = AbortSignal.any([closed.signal, stopping, AbortSignal.timeout(streamMsMax)])
  async function* watched(): AsyncGenerator<string> {
    try {
      yield* events(signal)
    } catch (err) {
      // The page opens another stream by itself.
      log.warn({ err }, 'a page cannot be kept up to date')
    }
  }
  const stream = Readable.from(watched())
  // Also when nobody ever read from it.
  stream.once('close', leave)
  return reply.headers({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' }).send(stream)
}
