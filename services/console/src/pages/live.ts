import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import type { ConsoleContext } from '../context.ts'
import { queueStates, Seats } from '../pieces/counts.ts'
import type { Pages, Visit } from '../pieces/visit.ts'

const everyMs = 15_000
/** A page asks again by itself. So a session that has ended, or a role that was taken away, is noticed. */
const streamMsMax = 10 * 60_000
/** Open streams of one process: each page that is open has one. */
const seats = new Seats({ max: 500, ofOneMax: 20 })

/** The counts of the queues as they change. */
export const livePages: Pages = (route, context) => {
  route.get('/live', (visit) => sendEvents(visit, context, (signal) => countsOf(visit, signal)))
}

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

async function* countsOf(visit: Visit, signal: AbortSignal): AsyncGenerator<string> {
  while (!signal.aborted) {
    const states = await queueStates(visit)
    // What is not known now stays as it was.
    const counts = Object.fromEntries(states.flatMap(({ name, count }) => (count === null ? [] : [[name, count]])))
    yield `event: counts\ndata: ${JSON.stringify(counts)}\n\n`
    await wait(everyMs, undefined, { signal }).catch(() => {})
  }
}
