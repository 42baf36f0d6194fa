import { Rejection, type ServiceName } from '@backoffice/contracts'
import { patiently, waitAtMost } from '@backoffice/process'
import type { FastifyRequest } from 'fastify'
import { type Person, ServiceStarts } from '../identity/person.ts'
import type { Word } from '../words/index.ts'
import type { Display } from './cells.ts'

/** How long a page waits for a part that it can be shown without. */
const partMs = 1_000

/** What a visit knows of the parts of its page. */
interface Parts {
  readonly person: Person
  readonly request: FastifyRequest
  readonly query: Readonly<Record<string, string | undefined>>
  readonly display: Display
  readonly late: Set<ServiceName>
}

/**
 * The visit for the parts of a page that can be shown without each other. A call that takes longer than `partMs` is refused as
 * one of a service that does not answer. The page says so, and asks for itself as a whole, which waits as long as a call may
 * take. An answer to a form is not asked for a second time, so it waits for all its parts, and what it lacks is missing.
 */
export function inParts<V extends Parts>(visit: V): V {
  const { person, request, query, late } = visit
  const isHurried = request.method === 'GET' && query.whole === undefined
  const call: Person['call'] = async (operation, input) => {
    const { service } = operation
    const asked = person.call(operation, input)
    try {
      const reply = isHurried ? await waitAtMost(patiently(partMs), asked, () => late.add(service)) : await asked
      if (reply !== undefined) return reply
      asked.catch(() => {})
      throw new Rejection('SERVICE_UNAVAILABLE')
    } catch (error) {
      if (error instanceof ServiceStarts && request.method === 'GET') late.add(service)
      throw error
    }
  }
  return { ...visit, person: { ...person, call } }
}

/** What a page says of the parts that it does not have yet, and the address that waits for them. */
export function restOf({ late, person, request, query, display }: Parts) {
  if (late.size === 0 || request.method !== 'GET') return undefined
  const isWhole = query.whole !== undefined
  const isResident = (service: ServiceName) => person.resident.includes(service)
  const [starting, slow] = [[...late].filter((one) => !isResident(one)), [...late].filter(isResident)]
  const say = (word: Word, those: readonly ServiceName[]) =>
    those.length === 0
      ? []
      : [display.t(word, { service: those.map((one) => display.word('service', one)).join(', ') })]
  return {
    lines: [...say('serviceStarts', starting), ...say('serviceLate', slow)],
    href: isWhole ? request.url : `${request.url}${request.url.includes('?') ? '&' : '?'}whole=yes`,
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
