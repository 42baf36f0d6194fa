import { createServer, request as httpRequest, type IncomingHttpHeaders, type Server } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { cases, type Finding } from './cases.ts'
import { parse } from './client.ts'
import { type MessageKind, pathOf } from './store.ts'

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

const kindOf = new Map(Object.entries(pathOf).map(([kind, path]) => [path, kind as MessageKind]))

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
  const result = parse(reply?.toString() ?? '')
  return {
    atMs: Date.now(),
    key: String(headers['x-provider-key'] ?? ''),
    clockOff: Number(headers['x-timestamp']) - Date.now() / 1_000,
    brandId,
    kind: method === 'POST' ? kindOf.get(rest) : undefined,
    path: path.slice(path.indexOf(rest)),
    bytes: bytes.toString(),
    body: parse(bytes.toString()),
    status,
    code: result?.error?.code,
    retryAfter: retryAfter === undefined ? undefined : Number(retryAfter),
    result,
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
const isAway = ({ status }: Seen) => status === 503
const isUnknown = ({ status, code }: Seen) => status === 0 || (status >= 500 && code !== 'WIN_HELD')
const hourMs = 3_600_000

/** Whether a message of a kind was answered with 200, and more. */
const did =
  (kind: MessageKind, more: (one: Seen, traffic: Traffic) => unknown = () => true): Rule =>
  (traffic) =>
    traffic.done(kind).some((one) => more(one, traffic))
const saw =
  (more: (one: Seen, traffic: Traffic) => unknown): Rule =>
  (traffic) =>
    traffic.seen.some((one) => more(one, traffic))

/** By the number of the case. What is not here leaves no trace in the traffic. */
const rules: Readonly<Record<number, Rule>> = {
  1: saw(({ status }) => status === 200),
  2: saw(({ status, clockOff }) => status === 200 && Math.abs(clockOff) > 200),
  3: saw(({ code }) => code === 'TIMESTAMP_OUT_OF_RANGE'),
  4: ({ seen }) => new Set(seen.filter(({ status }) => status === 200).map(({ key }) => key)).size > 1,
  6: saw(({ path, status }) => path.startsWith('/sessions/') && status === 200),
  7: (traffic) => traffic.leftAt('GAME_NOT_FOUND'),
  8: did('bet'),
  9: did('bet', ({ body }) => body.amount === '0.01'),
  10: did('bet', ({ result }) => !result.replayed && result.balanceAfter === '0.00'),
  11: (traffic) => traffic.leftAt('INSUFFICIENT_FUNDS'),
  12: did('bet', ({ result }) => result.replayed),
  13: (traffic) => traffic.wentOn('bet', isAway, ({ result }) => result.replayed),
  14: (traffic) => traffic.wentOn('bet', isAway, ({ result }) => !result.replayed),
  15: did('rollback', ({ body, result }, traffic) => {
    const bets = traffic.of('bet').filter((bet) => bet.body?.transactionId === body.betTransactionId)
    return result.applied && bets.some(isUnknown)
  }),
  16: did('rollback', ({ result }) => !result.applied),
  17: saw((bet, traffic) => {
    const isWin = (one: Seen) => one.kind === 'win' && sameRound(one, bet)
    return bet.kind === 'bet' && bet.code === 'TRANSACTION_ROLLED_BACK' && !traffic.after(bet).some(isWin)
  }),
  19: saw((one, traffic) => {
    if (one.code !== 'RATE_LIMITED') return false
    const next = traffic.after(one).find(({ bytes }) => bytes === one.bytes)
    return next && next.atMs - one.atMs >= (one.retryAfter ?? 0) * 1_000
  }),
  20: did('win', ({ body }) => body.amount !== '0.00'),
  21: did('win', ({ body }) => body.amount === '0.00'),
  22: did('win', ({ result }) => result.replayed),
  23: did('win', (win, traffic) => win.atMs - (traffic.attempts(win)[0]?.atMs ?? win.atMs) >= hourMs),
  24: (traffic) => traffic.paidAfter('SESSION_EXPIRED'),
  25: (traffic) => traffic.paidAfter('RG_BLOCKED'),
  26: (traffic) => traffic.paidAfter('PLAYER_NOT_ACTIVE'),
  27: (traffic) => traffic.paidAfter('OPERATOR_SUSPENDED'),
  28: (traffic) => traffic.wentOn('win', ({ code }) => code === 'BET_NOT_FOUND'),
  29: did('win', (win, traffic) => traffic.done('win').some((one) => sameRound(win, one))),
  30: did('win', (win, traffic) =>
    traffic.done('win').some((one) => sameRound(win, one) && win.body.betTransactionId !== one.body.betTransactionId),
  ),
  31: (traffic) => traffic.wentOn('win', ({ code }) => code === 'WIN_HELD'),
  32: did('close'),
  33: did('close', ({ result }) => result.replayed),
  34: did('close', (close, traffic) =>
    traffic.after(close).some((one) => one.kind === 'win' && one.status === 200 && sameRound(one, close)),
  ),
  35: did('spin', ({ body }) => body.win !== '0.00'),
  36: did('spin', ({ body }) => body.win === '0.00'),
  37: did(
    'spin',
    (spin, traffic) => spin.result.replayed && traffic.attempts(spin).every(({ bytes }) => bytes === spin.bytes),
  ),
  38: did('bet', ({ body }) => body.freeRound),
  39: did('win', ({ body }) => body.kind === 'jackpot'),
  40: did('win', ({ body }) => body.kind === 'promotion'),
  41: (traffic) => traffic.leftAt('RG_BLOCKED'),
  42: (traffic) => traffic.paidAfter('RG_BLOCKED', true),
  43: (traffic) => traffic.paidAfter('KYC_NOT_APPROVED'),
  44: (traffic) => traffic.leftAt('CURRENCY_MISMATCH'),
  47: saw(({ path, status }) => path.startsWith('/rounds?') && path.includes('day=') && status === 200),
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
