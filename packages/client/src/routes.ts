import { randomUUID } from 'node:crypto'
import type { ApiReply, Transport } from './transport.ts'

/** A request on its way: a promise of the record, which can also tell what the reply said beside it. */
export interface ApiCall<Data> extends Promise<Data> {
  withResponse(): Promise<ApiReply<Data>>
}

export function callOf<Data>(reply: Promise<ApiReply<Data>>): ApiCall<Data> {
  const record = reply.then(({ data }) => data)
  const withResponse = () => {
    // Whoever waits for the reply hears of its failure there, and need not listen to the record too.
    record.catch(() => {})
    return reply
  }
  return Object.assign(record, { withResponse })
}

/** The call with another record, which is made from what came. */
export function mapCall<From, To>(call: ApiCall<From>, change: (data: From) => To): ApiCall<To> {
  return callOf(call.withResponse().then((reply) => ({ ...reply, data: change(reply.data) })))
}

export interface RequestOptions {
  /**
   * Names the intent (this deposit, this confirmation). Without one the client makes a random key, which covers its own
   * retries only: to survive a crash of your process, choose the key yourself and store it before you call.
   */
  readonly idempotencyKey?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** The JSON of a request or a reply, as the document describes it. */
export type JsonOf<Message> = Message extends { content: { 'application/json': infer Json } } ? Json : never

interface Input {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
}

/** Sends what a method of the client takes. The methods name the type of the record: a released reply only grows. */
export class Routes {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  get<Reply>(route: string, input: Input, options: RequestOptions = {}): ApiCall<Reply> {
    return this.#send('GET', route, input, { signal: options.signal })
  }

  /** Without an Idempotency-Key, so that a request is not repeated after a lost reply. */
  post<Reply>(route: string, input: Input, options: RequestOptions = {}): ApiCall<Reply> {
    return this.#send('POST', route, input, { signal: options.signal })
  }

  /** With one effect per Idempotency-Key. */
  command<Reply>(
    route: string,
    input: Input,
    { idempotencyKey = randomUUID(), signal }: RequestOptions = {},
  ): ApiCall<Reply> {
    return this.#send('POST', route, input, { idempotencyKey, signal })
  }

  #send<Reply>(
    method: 'GET' | 'POST',
    route: string,
    { body, ...parameters }: Input,
    options: RequestOptions,
  ): ApiCall<Reply> {
    // In a function that is async, so that a parameter that cannot be sent rejects as everything else does.
    const reply = async () => this.#transport.send({ method, route, path: pathTo(route, parameters), body, ...options })
    return callOf(reply() as Promise<ApiReply<Reply>>)
  }
}

/** A path of the document with its parameters filled in, percent-encoded. */
function pathTo(route: string, { path = {}, query = {} }: Input): string {
  const filled = route.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''))
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${encodeURIComponent(value)}`],
  )
  return given.length === 0 ? filled : `${filled}?${given.join('&')}`
}
