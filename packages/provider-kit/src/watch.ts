import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { cases } from './cases.ts'
import type { Finding } from './run.ts'
import type { MessageKind } from './store.ts'

/** A call that went through, with its answer. */
export interface Seen {
  readonly atMs: number
  readonly key: string
  /** By how much X-Timestamp differed from the clock here, in seconds. */
  readonly clockOff: number
  readonly brandId: string
  /** Undefined for a read. */
  readonly kind: MessageKind | undefined
  readonly path: string
  readonly bytes: string
  // biome-ignore lint/suspicious/noExplicitAny: what a foreign client sent
  readonly body: any
  /** 0: none came, or nobody waited for it. */
  readonly status: number
  readonly code: string | undefined
  readonly retryAfter: number | undefined
  // biome-ignore lint/suspicious/noExplicitAny: what it was answered
  readonly result: any
}

const kindOf: Readonly<Record<string, MessageKind>> = {
  '/bets': 'bet',
  '/wins': 'win',
  '/rollbacks': 'rollback',
  '/rounds/close': 'close',
  '/spins': 'spin',
}

/** Passes calls on as they are: the signature covers path and body, and no host. */
export class Watch {
  readonly seen: Seen[] = []
  readonly #server: Server

  private constructor(server: Server) {
    this.#server = server
  }

  static async start({
    url,
    port,
    say,
  }: {
    url: string
    port: number
    say?: (line: string) => unknown
  }): Promise<Watch> {
    const server = createServer()
    const watch = new Watch(server)
    server.on('request', async (incoming, outgoing) => {
      const bytes = await buffer(incoming).catch(() => undefined)
      // A client that hung up in its body has sent nothing.
      if (bytes === undefined) return
      const { method = 'GET', url: path = '/', headers } = incoming
      const note = (status: number, retryAfter?: string, reply?: Buffer) => {
        const one = seenOf({ method, path, headers, bytes, status, retryAfter, reply })
        watch.seen.push(one)
        say?.(`${one.kind ?? 'read'} ${one.body?.transactionId ?? ''} ${status || 'no answer'} ${one.code ?? ''}`)
      }
      const to = new URL(path, url)
      const send = to.protocol === 'https:' ? httpsRequest : httpRequest
      const passedOn = send(to, { method, headers: { ...headers, host: to.host } }, async (answer) => {
        const reply = await buffer(answer).catch(() => undefined)
        note(
          outgoing.destroyed || reply === undefined ? 0 : (answer.statusCode ?? 0),
          answer.headers['retry-after'],
          reply,
        )
        if (reply === undefined) outgoing.destroy()
        else outgoing.writeHead(answer.statusCode ?? 502, answer.headers).end(reply)
      })
      passedOn.on('error', () => {
        note(0)
        outgoing.destroy()
      })
      passedOn.end(bytes)
    })
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
    return watch
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }
  get keys(): readonly string[] {
    return [...new Set(this.seen.map(({ key }) => key))]
  }
  get brands(): readonly string[] {
    return [...new Set(this.seen.map(({ brandId }) => brandId))]
  }

  findings(): readonly Finding[] {
    return judgeTraffic(this.seen)
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}

interface Raw {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly status: number
  readonly retryAfter: string | undefined
  readonly reply: Buffer | undefined
}

function seenOf({ method, path, headers, bytes, status, retryAfter, reply }: Raw): Seen {
  const [, brandId = '', rest = ''] = /^\/provider\/v1\/([^/]+)([^?]*)/.exec(path) ?? []
  const result = parse(reply?.toString())
  return {
    atMs: Date.now(),
    key: String(headers['x-provider-key'] ?? ''),
    clockOff: Number(headers['x-timestamp']) - Date.now() / 1_000,
    brandId,
    kind: method === 'POST' ? kindOf[rest] : undefined,
    path: path.slice(path.indexOf(rest)),
    bytes: bytes.toString(),
    body: parse(bytes.toString()),
    status,
    code: result?.error?.code,
    retryAfter: retryAfter === undefined ? undefined : Number(retryAfter),
    result,
  }
}

// biome-ignore lint/suspicious/noExplicitAny: whatever came
function parse(text: string | undefined): any {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}

/** What somebody did who was watched: what proves a case, or breaks it. */
type Rule = (traffic: Traffic) => boolean

class Traffic {
  readonly seen: readonly Seen[]
  constructor(seen: readonly Seen[]) {
    this.seen = seen
  }
  of(kind: MessageKind): readonly Seen[] {
    return this.seen.filter((one) => one.kind === kind)
  }
  done(kind: MessageKind): readonly Seen[] {
    return this.of(kind).filter(({ status }) => status === 200)
  }
  /** The attempts at one message. */
  attempts({ kind, body, bytes }: Seen): readonly Seen[] {
    return this.seen.filter(
      (one) =>
        one.kind === kind && (kind === 'close' ? one.bytes === bytes : one.body?.transactionId === body?.transactionId),
    )
  }
  after(one: Seen): readonly Seen[] {
    return this.seen.slice(this.seen.indexOf(one) + 1)
  }
  /** Whether a message of this kind was first answered so, and with 200 afterwards. */
  wentOn(kind: MessageKind, first: (one: Seen) => boolean, then: (one: Seen) => boolean = () => true): boolean {
    return this.of(kind).some(
      (one) =>
        first(one) &&
        this.attempts(one).some(
          (later) => this.seen.indexOf(later) > this.seen.indexOf(one) && later.status === 200 && then(later),
        ),
    )
  }
  /** A stake was refused so, was not rolled back, and the player was paid afterwards. */
  paidAfter(code: string, isHand = false): boolean {
    return this.of('bet').some(
      (bet) =>
        bet.code === code &&
        this.after(bet).some(
          (one) =>
            one.kind === 'win' &&
            one.status === 200 &&
            one.body.playerId === bet.body.playerId &&
            (!isHand || one.body.roundId === bet.body.roundId),
        ),
    )
  }
  /** A stake was refused so, and was left at that. */
  leftAt(code: string): boolean {
    const refused = this.of('bet').filter((bet) => bet.code === code)
    const isBack = (bet: Seen) =>
      this.of('rollback').some(({ body }) => body?.betTransactionId === bet.body.transactionId)
    return refused.length > 0 && !refused.some(isBack)
  }
}

const sameRound = (one: Seen, other: Seen) =>
  one !== other && one.body.roundId === other.body.roundId && one.body.playerId === other.body.playerId
const isUnknown = ({ status, code }: Seen) => status === 0 || (status >= 500 && code !== 'WIN_HELD')
const hourMs = 3_600_000

/** By the number of the case. What is not here leaves no trace in the traffic. */
const rules: Readonly<Record<number, Rule>> = {
  1: ({ seen }) => seen.some(({ status }) => status === 200),
  2: ({ seen }) => seen.some(({ status, clockOff }) => status === 200 && Math.abs(clockOff) > 200),
  3: (traffic) => traffic.seen.some(({ code }) => code === 'TIMESTAMP_OUT_OF_RANGE'),
  4: ({ seen }) => new Set(seen.filter(({ status }) => status === 200).map(({ key }) => key)).size > 1,
  6: ({ seen }) => seen.some(({ path, status }) => path.startsWith('/sessions/') && status === 200),
  7: (traffic) => traffic.leftAt('GAME_NOT_FOUND'),
  8: (traffic) => traffic.done('bet').length > 0,
  9: (traffic) => traffic.done('bet').some(({ body }) => body.amount === '0.01'),
  10: (traffic) => traffic.done('bet').some(({ result }) => !result.replayed && result.balanceAfter === '0.00'),
  11: (traffic) => traffic.leftAt('INSUFFICIENT_FUNDS'),
  12: (traffic) => traffic.done('bet').some(({ result }) => result.replayed),
  13: (traffic) =>
    traffic.wentOn(
      'bet',
      ({ status }) => status === 503,
      ({ result }) => result.replayed,
    ),
  14: (traffic) =>
    traffic.wentOn(
      'bet',
      ({ status }) => status === 503,
      ({ result }) => !result.replayed,
    ),
  15: (traffic) =>
    traffic
      .done('rollback')
      .some(
        ({ body, result }) =>
          result.applied &&
          traffic.of('bet').some((bet) => bet.body?.transactionId === body.betTransactionId && isUnknown(bet)),
      ),
  16: (traffic) => traffic.done('rollback').some(({ result }) => !result.applied),
  17: (traffic) =>
    traffic
      .of('bet')
      .some(
        (bet) =>
          bet.code === 'TRANSACTION_ROLLED_BACK' &&
          !traffic.after(bet).some((one) => one.kind === 'win' && sameRound(one, bet)),
      ),
  19: (traffic) =>
    traffic.seen.some((one) => {
      const [next] = one.code === 'RATE_LIMITED' ? traffic.after(one).filter(({ bytes }) => bytes === one.bytes) : []
      return next !== undefined && next.atMs - one.atMs >= (one.retryAfter ?? 0) * 1_000
    }),
  20: (traffic) => traffic.done('win').some(({ body }) => body.amount !== '0.00'),
  21: (traffic) => traffic.done('win').some(({ body }) => body.amount === '0.00'),
  22: (traffic) => traffic.done('win').some(({ result }) => result.replayed),
  23: (traffic) => traffic.done('win').some((win) => win.atMs - (traffic.attempts(win)[0]?.atMs ?? win.atMs) >= hourMs),
  24: (traffic) => traffic.paidAfter('SESSION_EXPIRED'),
  25: (traffic) => traffic.paidAfter('RG_BLOCKED'),
  26: (traffic) => traffic.paidAfter('PLAYER_NOT_ACTIVE'),
  27: (traffic) => traffic.paidAfter('OPERATOR_SUSPENDED'),
  28: (traffic) => traffic.wentOn('win', ({ code }) => code === 'BET_NOT_FOUND'),
  29: (traffic) => traffic.done('win').some((win) => traffic.done('win').some((one) => sameRound(win, one))),
  30: (traffic) =>
    traffic
      .done('win')
      .some((win) =>
        traffic
          .done('win')
          .some((one) => sameRound(win, one) && win.body.betTransactionId !== one.body.betTransactionId),
      ),
  31: (traffic) => traffic.wentOn('win', ({ code }) => code === 'WIN_HELD'),
  32: (traffic) => traffic.done('close').length > 0,
  33: (traffic) => traffic.done('close').some(({ result }) => result.replayed),
  34: (traffic) =>
    traffic
      .done('close')
      .some((close) =>
        traffic.after(close).some((one) => one.kind === 'win' && one.status === 200 && sameRound(one, close)),
      ),
  35: (traffic) => traffic.done('spin').some(({ body }) => body.win !== '0.00'),
  36: (traffic) => traffic.done('spin').some(({ body }) => body.win === '0.00'),
  37: (traffic) =>
    traffic
      .done('spin')
      .some((spin) => spin.result.replayed && traffic.attempts(spin).every(({ bytes }) => bytes === spin.bytes)),
  38: (traffic) => traffic.done('bet').some(({ body }) => body.freeRound),
  39: (traffic) => traffic.done('win').some(({ body }) => body.kind === 'jackpot'),
  40: (traffic) => traffic.done('win').some(({ body }) => body.kind === 'promotion'),
  41: (traffic) => traffic.leftAt('RG_BLOCKED'),
  42: (traffic) => traffic.paidAfter('RG_BLOCKED', true),
  43: (traffic) => traffic.paidAfter('KYC_NOT_APPROVED'),
  44: (traffic) => traffic.leftAt('CURRENCY_MISMATCH'),
  47: ({ seen }) =>
    seen.some(({ path, status }) => path.startsWith('/rounds?') && path.includes('day=') && status === 200),
}

/** What a client must never do, whatever it proves. @returns a line for each */
function breaches(traffic: Traffic): readonly string[] {
  const found: string[] = []
  for (const one of traffic.seen) {
    if (one.code === 'TRANSACTION_CONFLICT')
      found.push(`${one.kind} ${one.body?.transactionId} was sent again with other content`)
    if (one.kind === 'win' && one.code === 'BET_REFUSED')
      found.push(`a refused bet was played: ${one.body?.transactionId}`)
  }
  for (const win of traffic.of('win')) {
    const attempts = traffic.attempts(win)
    const last = attempts.at(-1)
    if (last !== undefined && last === win && isUnknown(last)) found.push(`win ${win.body?.transactionId} was given up`)
  }
  return found
}

/** What traffic has proved of each case, in order; what breaks the contract comes last. */
export function judgeTraffic(seen: readonly Seen[]): readonly Finding[] {
  const traffic = new Traffic(seen)
  const findings = cases.map(({ number, name, withTeam }): Finding => {
    const rule = rules[number]
    if (rule === undefined)
      return { number, name, result: 'not seen', why: 'it leaves no trace in the traffic: show it' }
    if (rule(traffic)) return { number, name, result: 'proved', why: 'seen in the traffic' }
    if (withTeam !== undefined) return { number, name, result: 'needs the team', why: `ask for ${withTeam.ask}` }
    return { number, name, result: 'not seen', why: 'not seen yet' }
  })
  const broken = breaches(traffic).map((why): Finding => ({ number: 0, name: 'contract', result: 'failed', why }))
  return [...findings, ...broken]
}
