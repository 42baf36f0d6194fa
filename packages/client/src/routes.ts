import { randomUUID } from 'node:crypto'
import type { paths } from './api.ts'
import { type ApiCall, type ApiReply, callOf } from './call.ts'
import type { Transport } from './transport.ts'

export interface RequestOptions {
  /**
   * Names the intent (this deposit, this confirmation). Without one the client makes a random key, which covers its own
   * retries only: to survive a crash of your process, choose the key yourself and store it before you call.
   */
  readonly idempotencyKey?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** The paths whose entry in the document has this shape. */
type PathWith<Shape> = { [P in keyof paths]: paths[P] extends Shape ? P : never }[keyof paths]
type NeedsKey = { parameters: { header: { 'Idempotency-Key': string } } }

export type GetPath = PathWith<{ get: object }>
/** The paths that have one effect per Idempotency-Key. */
export type CommandPath = PathWith<{ post: NeedsKey }>
/** The paths without an Idempotency-Key, so that a request is not repeated after a lost reply. */
export type PostPath = Exclude<PathWith<{ post: object }>, CommandPath>

interface Operation {
  readonly parameters: { readonly path?: unknown; readonly query?: unknown }
  readonly requestBody?: unknown
  readonly responses: object
}
/** The JSON of a request or a reply, as the document describes it. */
export type JsonOf<Message> = Message extends { content: { 'application/json': infer Json } } ? Json : never

/** What may be left out may also be undefined. */
type Lenient<T> = { [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K] }
type QueryOf<Parameters> = { [K in keyof Parameters as K extends 'query' ? K : never]: Lenient<Parameters[K]> }
type BodyOf<O> = { [K in keyof O as K extends 'requestBody' ? 'body' : never]: JsonOf<O[K]> }

/** Path parameters, query and body of an operation, each demanded where the document demands it. */
export type InputOf<O> = O extends Operation
  ? Pick<O['parameters'], 'path'> & QueryOf<O['parameters']> & BodyOf<O>
  : never

/** What an operation returns on success. */
export type ReplyOf<O> = O extends Operation ? JsonOf<O['responses'][keyof O['responses'] & (200 | 201)]> : never

interface Input {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: unknown
}

/** The routes of the API as src/api.ts has them: a path, a parameter or a reply that is not there does not compile. */
export class Routes {
  readonly #transport: Transport

  constructor(transport: Transport) {
    this.#transport = transport
  }

  get<P extends GetPath>(
    path: P,
    input: InputOf<paths[P]['get']>,
    options: RequestOptions = {},
  ): ApiCall<ReplyOf<paths[P]['get']>> {
    return this.#send('GET', path, input, { signal: options.signal })
  }

  post<P extends PostPath>(
    path: P,
    input: InputOf<paths[P]['post']>,
    options: RequestOptions = {},
  ): ApiCall<ReplyOf<paths[P]['post']>> {
    return this.#send('POST', path, input, { signal: options.signal })
  }

  command<P extends CommandPath>(
    path: P,
    input: InputOf<paths[P]['post']>,
    { idempotencyKey = randomUUID(), signal }: RequestOptions = {},
  ): ApiCall<ReplyOf<paths[P]['post']>> {
    return this.#send('POST', path, input, { idempotencyKey, signal })
  }

  /** The only place that trusts the API without a check: a reply has a released shape, which only grows. */
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
