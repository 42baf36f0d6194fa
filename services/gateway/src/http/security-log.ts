import type { ErrorCode } from '@backoffice/contracts'
import { holderOf, type Logger, Loop, meter } from '@backoffice/process'
import type { FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { KeyHolder, KeyKind } from '../keys.ts'

const minuteMs = 60_000
/** Lines a minute for one address and one operator. What comes after them is counted in one line. */
const linesOfOneMax = 10
/**
 * Lines a minute for all addresses together. Who makes up keys has lines of their own, so that they cannot hide what
 * happens to the keys of operators.
 */
const linesOfAllMax = { known: 600, unknown: 120 } as const
/** Addresses that are counted one by one. The refusals of further ones are counted together. */
const sourcesMax = 10_000

/** Operators with series of their own in the metric, a few for each code. All others are `other`; the lines name them. */
const measuredOperatorsMax = 50

const refusals = meter.createCounter('backoffice.authentication.refusals', {
  description: 'Requests that were refused because of who sent them, or because their signature was used before',
})

/** Why a request is not let in. */
export interface Refusal {
  readonly code: ErrorCode
  /** As it was sent; shown only if it looks like a key. */
  readonly key: string
  /** Undefined when the key does not exist. */
  readonly holder: KeyHolder | undefined
  readonly address: string
  readonly request: FastifyRequest
  /** The address has used up its failures, so the reply is RATE_LIMITED. */
  readonly limited?: boolean
}

/** Who is named by lines: an operator or a provider. */
type Named = Pick<KeyHolder, 'operatorId' | 'providerId'>

interface RefusalSource {
  readonly address: string
  readonly holder: Named
  lines: number
  readonly unshown: Map<ErrorCode, number>
}

/** Its fields are fixed, and none of them needs to be struck out, which costs as much as the rest of a line. */
export const securityLines = (log: Logger): Logger => log.child({ log: 'security' }, { redact: [] })

/**
 * Who was refused, and what operators changed (`showRequest`), as lines with `"log":"security"`. They name operators, keys and
 * addresses, and never a person, a secret, a body or an Idempotency-Key.
 */
export class SecurityLog {
  readonly #log: Logger
  readonly #keys: KeyKind
  readonly #sources: LRUCache<string, RefusalSource>
  readonly #measured = new Set<string>()
  #lines = { known: 0, unknown: 0 }
  #unshown = new Map<ErrorCode, number>()
  readonly #minutes: Loop

  constructor(log: Logger, keys: KeyKind) {
    this.#log = securityLines(log)
    this.#keys = keys
    this.#sources = new LRUCache({
      max: sourcesMax,
      dispose: (source, _name, reason) => {
        if (reason === 'evict') this.#addUp(source.unshown)
      },
    })
    this.#minutes = new Loop({
      name: 'counting refusals',
      log,
      everyMs: minuteMs,
      firstAfterMs: minuteMs,
      run: async () => this.endMinute(),
    })
  }

  start(): void {
    this.#minutes.start()
  }

  async stop(): Promise<void> {
    await this.#minutes.stop()
    this.endMinute()
  }

  /** Counts a refusal, and shows it unless too many were shown in this minute. */
  refused(refusal: Refusal): void {
    const { code, key, holder, address, request, limited = false } = refusal
    const { environment, ...named }: Partial<KeyHolder> = holder ?? {}
    const source = this.#sourceOf(holderOf(address), named)
    const kind = holder === undefined ? 'unknown' : 'known'
    const many = source.lines >= linesOfOneMax || this.#lines[kind] >= linesOfAllMax[kind]
    // Everybody has some. Who has many, or whose signature comes again, takes one of the places.
    const operator = this.#measuredAs(named.operatorId, many || code === 'IDEMPOTENCY_CONFLICT')
    refusals.add(1, { code, environment: environment ?? 'none', operator })
    if (many) {
      addTo(source.unshown, code, 1)
      return
    }
    source.lines += 1
    this.#lines[kind] += 1
    const operation = request.routeOptions.config.operation
    const keyId = this.#keys.shape.test(key) ? key : null
    this.#log.warn(
      { event: 'refused', code, keyId, ...named, environment, address, requestId: request.id, operation, limited },
      'a request was refused because of its sender',
    )
  }

  /** Shows how many refusals were not shown one by one, and begins anew. */
  endMinute(): void {
    const sources = [...this.#sources.values()].filter(({ unshown }) => unshown.size > 0)
    sources.sort((a, b) => sum(b.unshown) - sum(a.unshown))
    // Addresses with the most refusals have a line each; those of the others are added up.
    for (const { address, holder, unshown } of sources.splice(0, linesOfAllMax.unknown))
      this.#showCount({ address, ...holder }, unshown)
    for (const { unshown } of sources) this.#addUp(unshown)
    if (this.#unshown.size > 0) this.#showCount({}, this.#unshown)
    this.#sources.clear()
    this.#lines = { known: 0, unknown: 0 }
    this.#unshown = new Map()
  }

  #showCount(source: Named & { readonly address?: string }, unshown: ReadonlyMap<ErrorCode, number>): void {
    this.#log.warn(
      { event: 'refusals', ...source, count: sum(unshown), codes: Object.fromEntries(unshown) },
      'more requests were refused than are shown one by one',
    )
  }

  #measuredAs(operatorId: string | undefined, named: boolean): string {
    if (operatorId === undefined) return 'none'
    if (named && this.#measured.size < measuredOperatorsMax) this.#measured.add(operatorId)
    return this.#measured.has(operatorId) ? operatorId : 'other'
  }

  #sourceOf(address: string, holder: Named): RefusalSource {
    const name = `${address} ${holder.operatorId ?? holder.providerId ?? ''}`
    let source = this.#sources.get(name)
    if (source === undefined) {
      source = { address, holder, lines: 0, unshown: new Map() }
      this.#sources.set(name, source)
    }
    return source
  }

  #addUp(unshown: ReadonlyMap<ErrorCode, number>): void {
    for (const [code, count] of unshown) addTo(this.#unshown, code, count)
  }
}

function addTo(counts: Map<ErrorCode, number>, code: ErrorCode, count: number): void {
  counts.set(code, (counts.get(code) ?? 0) + count)
}

const sum = (counts: ReadonlyMap<ErrorCode, number>): number => [...counts.values()].reduce((a, b) => a + b, 0)

const windowMs = 60_000
/** Whoever has more addresses than this is not stopped by a bound per address. */
const holdersMax = 50_000

/**
 * Counts failed authentications by the caller's address, in the minute that its first failure opens. Whoever guesses
 * soon has to wait. What is correctly signed is not asked for here: it is never refused for what others did.
 */
export class FailedAuthentications {
  readonly #perMinuteMax: number
  readonly #windows = new LRUCache<string, { failures: number }>({ max: holdersMax, ttl: windowMs })

  constructor(perMinuteMax: number) {
    this.#perMinuteMax = perMinuteMax
  }

  /** @returns null within the bound, else the milliseconds until the minute of the address ends */
  count(address: string): number | null {
    const holder = holderOf(address)
    let window = this.#windows.get(holder)
    if (window === undefined) {
      window = { failures: 0 }
      this.#windows.set(holder, window)
    }
    window.failures += 1
    return window.failures > this.#perMinuteMax ? this.#windows.getRemainingTTL(holder) : null
  }

  /** How many addresses are over the bound now. */
  get limitedAddresses(): number {
    let limited = 0
    for (const { failures } of this.#windows.values()) if (failures > this.#perMinuteMax) limited += 1
    return limited
  }
}
