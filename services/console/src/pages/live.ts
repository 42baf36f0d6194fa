import { Readable } from 'node:stream'
import { setTimeout as wait } from 'node:timers/promises'
import { queueStates } from './counts.ts'
import type { Pages } from './route.ts'
import type { Visit } from './visit.ts'

const everyMs = 15_000
/** A page asks again by itself. So a session that has ended, or a role that was taken away, is noticed. */
const streamMsMax = 10 * 60_000
/** Open streams of one process: each page that is open has one. */
const streamsMax = 500
let streams = 0

/** The counts of the queues as they change (server-sent events). */
export const livePages: Pages = (route, { log, stopping }) => {
  route.get('/live', (visit) => {
    if (streams >= streamsMax) return visit.reply.code(503).header('Retry-After', '60').send()
    const closed = new AbortController()
    visit.request.raw.once('close', () => closed.abort())
    const signal = AbortSignal.any([closed.signal, stopping, AbortSignal.timeout(streamMsMax)])
    const events = Readable.from(countsOf(visit, signal, (err) => log.warn({ err }, 'the counts cannot be read')))
    return visit.reply.headers({ 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' }).send(events)
  })
}

async function* countsOf(visit: Visit, signal: AbortSignal, failed: (error: unknown) => void): AsyncGenerator<string> {
  streams += 1
  try {
    while (!signal.aborted) {
      try {
        const states = await queueStates(visit)
        const counts = Object.fromEntries(states.map(({ name, count }) => [name, count]))
        yield `event: counts\ndata: ${JSON.stringify(counts)}\n\n`
      } catch (error) {
        failed(error)
        return
      }
      await wait(everyMs, undefined, { signal }).catch(() => {})
    }
  } finally {
    streams -= 1
  }
}
