import { randomBytes } from 'node:crypto'
import { Rejection, type ServiceName } from '@backoffice/contracts'
import { patiently, waitAtMost } from '@backoffice/process'
import type { FastifyRequest } from 'fastify'
import { type Person, ServiceStarts } from '../identity/person.ts'
import type { Word } from '../words/index.ts'
import type { Display } from './cells.ts'

/** How long a page waits for a part that it can be shown without. */
const partMs = 1_000

/** What the parts of a page have asked since a moment: also what is still on the way is asked once. */
interface Asked {
  readonly session: string
  readonly now: Date
  /** By operation and input. What failed may be asked again. */
  readonly replies: Map<string, Promise<unknown>>
}

/** So long a page that lacks parts is kept for its rest, which its browser asks for at once, and so many pages. */
const [keptMs, keptMax] = [30_000, 100]
const kept = new Map<string, Asked>()

/** @returns where its rest finds it; another replica, or one that keeps too many, asks anew */
function keep(asked: Asked): string {
  const name = randomBytes(16).toString('base64url')
  if (kept.size < keptMax) {
    kept.set(name, asked)
    setTimeout(() => kept.delete(name), keptMs).unref()
  }
  return name
}

/** What was asked for the page whose rest this is, by the same session; nothing for any other page. */
export function askedBefore(query: Parts['query'], { session }: Person, now: Date): Asked {
  const { whole = '' } = query
  const asked = kept.get(whole)
  if (asked?.session !== session) return { session, now, replies: new Map() }
  kept.delete(whole)
  return asked
}

/** What a visit knows of the parts of its page. */
interface Parts {
  readonly person: Person
  readonly request: FastifyRequest
  readonly query: Readonly<Record<string, string | undefined>>
  readonly display: Display
  readonly late: Set<ServiceName>
  readonly asked: Asked
}

/**
 * The visit for the parts of a page that can be shown without each other. A call that takes longer than `partMs` is refused as
 * one of a service that does not answer. The page says so, and asks for itself as a whole, which waits for the replies that
 * are on the way, as long as a call may take, and has the others. An answer to a form is not asked for a second time, so it
 * waits for all its parts, and what it lacks is missing.
 */
export function inParts<V extends Parts>(visit: V): V {
  const { person, request, query, late, asked } = visit
  const isPage = request.method === 'GET'
  const isHurried = isPage && query.whole === undefined
  const ask: Person['call'] = (operation, input) => {
    const name = `${operation.service}.${operation.id} ${JSON.stringify(input)}`
    const known = asked.replies.get(name) as Promise<never> | undefined
    if (known !== undefined) return known
    const reply = person.call(operation, input)
    if (isPage) asked.replies.set(name, reply)
    reply.catch(() => asked.replies.delete(name))
    return reply
  }
  const call: Person['call'] = async (operation, input) => {
    const { service } = operation
    try {
      const asking = ask(operation, input)
      const reply = isHurried ? await waitAtMost(patiently(partMs), asking, () => late.add(service)) : await asking
      if (reply === undefined) throw new Rejection('SERVICE_UNAVAILABLE')
      return reply
    } catch (error) {
      if (error instanceof ServiceStarts && isPage) late.add(service)
      throw error
    }
  }
  return { ...visit, person: { ...person, call } }
}

/** What a page says of the parts that it does not have yet, and the address that waits for them. */
export function restOf({ late, person, request, query, display, asked }: Parts) {
  if (late.size === 0 || request.method !== 'GET') return undefined
  const isWhole = query.whole !== undefined
  const page = request.url.replace(/[?&]whole=[^&]*$/, '')
  const isResident = (service: ServiceName) => person.resident.includes(service)
  const [starting, slow] = [[...late].filter((one) => !isResident(one)), [...late].filter(isResident)]
  const say = (word: Word, those: readonly ServiceName[]) =>
    those.length === 0
      ? []
      : [display.t(word, { service: those.map((one) => display.word('service', one)).join(', ') })]
  return {
    lines: [...say('serviceStarts', starting), ...say('serviceLate', slow)],
    href: `${page}${page.includes('?') ? '&' : '?'}whole=${keep(asked)}`,
    /** One that is started took longer than a call may take. */
    isAskedAgain: isWhole,
  }
}

/** What is said in the place of what a service knows. */
export function silenceOf({ late, person, display }: Parts, service: string): string {
  const [isResident, isSlow] = [person.resident, [...late]].map((names) => names.some((name) => name === service))
  if (!isResident) return display.t('serviceStarts', { service })
  return display.t(isSlow ? 'serviceLate' : 'serviceAway', { service })
}
