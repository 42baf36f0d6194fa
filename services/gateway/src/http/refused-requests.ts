import { type ErrorCode, refusedWithoutPlay } from '@backoffice/contracts'
import { type Clock, holderOf, type Logger, Loop } from '@backoffice/process'
import type { Background, Db } from '@backoffice/service-runtime'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KeyHolder } from '../keys.ts'
import { keepRefusals, keptMax, type RefusalSource, type RefusedRequest, unknownSenders } from '../requests/records.ts'
import type { Access, Observer } from './authenticate.ts'
import type { Surface } from './surface.ts'

/** What waits to be written, in this process. Beyond it requests are counted only. */
const waitingMax = 1_000
const writeEveryMs = 1_000
/** Of what nobody has signed, a day, of one address (IPv6: one /64), in this replica: the rest is for others. */
const keptOfOneMax = keptMax / 10

type Nobody = Omit<RefusalSource, 'verified'> & { readonly providerId?: never }
/** What this replica knows of a source. */
interface Counted extends RefusalSource {
  /** Today, of all replicas, when it was last written. */
  refused: number
  /** Since then. */
  waiting: number
  /** What is kept today of those who sent it. */
  readonly kept: Map<string, number>
}

/**
 * Keeps what was refused or failed on one surface, so that a request id leads somewhere. No request waits for it: refusals are
 * noted in memory and written once a second; a process that dies forgets those of a second. While PostgreSQL is away, and
 * beyond the bounds, they are only counted.
 */
export class RefusedRequests implements Background, Observer {
  readonly awaits = { operations: new Set<string>(), operators: new Set<string>() }
  readonly #db: Db
  readonly #clock: Clock
  readonly #loop: Loop
  readonly #nobody: Nobody
  readonly #sources = new Map<string, Counted>()
  #waiting: RefusedRequest[] = []
  #day = ''

  constructor(
    { db, clock, log }: { readonly db: Db; readonly clock: Clock; readonly log: Logger },
    surface: Surface['name'] = 'operators',
  ) {
    this.#db = db
    this.#clock = clock
    this.#nobody = { operatorId: unknownSenders[surface], environment: '' }
    this.#loop = new Loop({ run: () => this.#write(), everyMs: writeEveryMs, log, name: 'writing refused requests' })
  }

  start(): void {
    this.#loop.start()
  }

  /** Writes what is noted by then. */
  stop(): Promise<void> {
    this.#loop.nudge()
    return this.#loop.stop()
  }

  /** @param body the envelope */
  answered(request: FastifyRequest, reply: FastifyReply, body: unknown): void {
    const { sender, verified = false, routeOptions, method, refusedWith: code, access } = request
    if (code === undefined || leavesPlay(access, code)) return
    const { operatorId = '', providerId = operatorId, environment }: KeyHolder | Nobody = sender?.holder ?? this.#nobody
    const source = { operatorId: providerId, environment, verified }
    if (!this.#count(source, holderOf(request.ip))) return
    const { pathname, ...told } = { pathname: pathOf(request.raw.url ?? ''), ...detailsIn(body) }
    this.#waiting.push({
      ...source,
      ...told,
      requestId: String(reply.getHeader('X-Request-Id')),
      at: this.#clock.now(),
      key: sender?.key ?? null,
      operation: routeOptions.config.operation ?? null,
      method: method.slice(0, 10),
      path: pathname,
      status: reply.statusCode,
      code,
      durationMs: Math.round(reply.elapsedTime),
    })
  }

  /** Bytes that were no request that could be read. */
  unread(requestId: string, status: number, code: ErrorCode, address: string): void {
    const source = { ...this.#nobody, verified: false }
    if (!this.#count(source, holderOf(address))) return
    const nothing = {
      key: null,
      operation: null,
      method: '',
      path: '',
      fields: null,
      canonicalString: null,
      hint: null,
    }
    this.#waiting.push({ ...source, ...nothing, requestId, at: this.#clock.now(), status, code, durationMs: 0 })
  }

  /** @returns whether it may be kept */
  #count(source: RefusalSource, holder: string): boolean {
    const name = nameOf(source)
    let counted = this.#sources.get(name)
    if (counted === undefined) {
      counted = { ...source, refused: 0, waiting: 0, kept: new Map() }
      this.#sources.set(name, counted)
    }
    const kept = (this.#ofToday(counted).get(holder) ?? 0) + 1
    if (!source.verified && kept > keptOfOneMax) return false
    counted.waiting += 1
    if (counted.refused + counted.waiting > keptMax || this.#waiting.length >= waitingMax) return false
    counted.kept.set(holder, kept)
    return true
  }

  #ofToday({ kept }: Counted): Counted['kept'] {
    const day = this.#clock.now().toISOString().slice(0, 10)
    if (day !== this.#day) for (const source of this.#sources.values()) source.kept.clear()
    this.#day = day
    return kept
  }

  async #write(): Promise<void> {
    const counts = [...this.#sources.values()].filter(({ waiting }) => waiting > 0)
    if (counts.length === 0) return
    const requests = this.#waiting
    this.#waiting = []
    const written = counts.map(({ waiting, ...source }) => ({ ...source, refused: waiting }))
    for (const source of counts) source.waiting = 0
    try {
      for (const { refused, ...source } of await keepRefusals(this.#db, written, requests)) {
        const counted = this.#sources.get(nameOf(source))
        if (counted !== undefined) counted.refused = refused
      }
    } catch (error) {
      for (const [index, source] of counts.entries()) source.waiting += written[index]?.refused ?? 0
      this.#waiting = [...requests, ...this.#waiting].slice(0, waitingMax)
      throw error
    }
  }
}

/** The wallet keeps it for ever, under its request id, too: there are many of players without money. */
const leavesPlay = (access: Access | undefined, code: ErrorCode): boolean =>
  access?.operation.audience === 'provider' &&
  access.operation.http?.method === 'POST' &&
  access.operation.rejects.includes(code) &&
  !refusedWithoutPlay.has(code)

const nameOf = ({ operatorId, environment, verified }: RefusalSource): string =>
  `${operatorId} ${environment} ${verified}`

const pathLengthMax = 300
/** The names of paths, and ids of ours. Anything else in a path may be what somebody calls a person. */
const isOurs = /^(?:v1|[a-z][a-z-]{0,29}(?:\.json)?|[a-z]{2,4}_[\da-z]{8,40}|)$/

/** Without the query, and without what is not ours. */
export function pathOf(url: string): string {
  const [path = ''] = url.split('?', 1)
  const segments = path.slice(0, pathLengthMax).split('/')
  return segments.map((segment) => (isOurs.test(segment) ? segment : '…')).join('/')
}

interface Told {
  readonly fields: string | null
  readonly canonicalString: string | null
  readonly hint: string | null
}

const canonicalLengthMax = 1_000
const fieldsMax = 10

/** Its second line is the target, of which the query may say anything of anybody, as may what is no name of ours in the path. */
const maskedCanonical = (canonical: string): string =>
  canonical
    .split('\n')
    .map((line, index) => (index === 1 ? `${pathOf(line)}${line.includes('?') ? '?…' : ''}` : line))
    .join('\n')
    .slice(0, canonicalLengthMax)

/** Of the envelope's details what says nothing of a person: which fields, and what an integrator signs wrongly. */
function detailsIn(body: unknown): Told {
  const { error } = (typeof body === 'string' ? JSON.parse(body) : {}) as {
    error?: { details?: Readonly<Record<string, unknown>> }
  }
  const {
    issues,
    canonicalString,
    signature,
    hint = signature && 'the signature was used before',
  } = error?.details ?? {}
  const paths = Array.isArray(issues) ? (issues as readonly { path: string }[]).map(({ path }) => path) : []
  // A name that is not the schema's is the client's own.
  const known = paths.filter((path) => /^[\w/]{1,60}$/.test(path)).slice(0, fieldsMax)
  return {
    fields: known.length === 0 ? null : known.join(' ').slice(0, 400),
    canonicalString: typeof canonicalString === 'string' ? maskedCanonical(canonicalString) : null,
    hint: typeof hint === 'string' ? hint : null,
  }
}
