import { Worker } from 'node:worker_threads'
import {
  type DocumentFile,
  docsContentSecurityPolicy,
  type ServedSurface,
  servedOperators,
  withoutSamples,
} from '@backoffice/api-docs/served'
import { ServedFile } from '@backoffice/process'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'

export interface DocumentRequest {
  readonly id: number
  /** Of the document: see `ServedDocument`. */
  readonly name: string
  /** The address that clients call, as the document shows it. */
  readonly baseUrl: string
}

export type DocumentReply =
  | { readonly id: number; readonly file: DocumentFile }
  | { readonly id: number; readonly error: unknown }

/**
 * Makes documents in a thread of its own. To load what makes them and to make one takes up to half a second, in which
 * this thread would answer no signed request. It starts with the first document, and ends when it has nothing to do,
 * because it takes as much memory as the rest of the process and most documents are made once.
 */
export class DocumentThread {
  readonly #waiting = new Map<number, PromiseWithResolvers<DocumentFile>>()
  #worker: Worker | undefined
  #lastId = 0
  readonly #idleMs: number
  #idle: NodeJS.Timeout | undefined

  constructor(idleMs = 10_000) {
    this.#idleMs = idleMs
  }

  /** @throws when it cannot be made, or the thread dies. The next document starts another. */
  make(request: Omit<DocumentRequest, 'id'>): Promise<DocumentFile> {
    clearTimeout(this.#idle)
    this.#worker ??= this.#start()
    this.#lastId += 1
    const made = Promise.withResolvers<DocumentFile>()
    this.#waiting.set(this.#lastId, made)
    // A process that ends waits for a document, and not for the thread.
    this.#worker.ref()
    this.#worker.postMessage({ ...request, id: this.#lastId } satisfies DocumentRequest)
    return made.promise
  }

  #start(): Worker {
    // Not with the options of this process: they load telemetry, which runs once in a process.
    const worker = new Worker(new URL('./document-worker.ts', import.meta.url), { execArgv: [] })
    let fault: unknown
    worker.on('message', (reply: DocumentReply) => {
      const made = this.#waiting.get(reply.id)
      this.#waiting.delete(reply.id)
      if (this.#waiting.size === 0) {
        worker.unref()
        this.#idle = setTimeout(() => this.#end(worker), this.#idleMs).unref()
      }
      if ('file' in reply) made?.resolve(reply.file)
      else made?.reject(reply.error)
    })
    worker.once('error', (error) => {
      fault = error
    })
    worker.once('exit', (status) => {
      // It was ended. Another one may work by now.
      if (this.#worker !== worker) return
      this.#worker = undefined
      for (const made of this.#waiting.values())
        made.reject(fault ?? new Error(`the thread of the documents ended with ${status}`))
      this.#waiting.clear()
    })
    return worker
  }

  #end(worker: Worker): void {
    this.#worker = undefined
    void worker.terminate()
  }
}

/** One for both surfaces, where a process serves both. */
const thread = new DocumentThread()

/**
 * The documents of a surface, which need no credentials.
 * @param baseUrl the address that clients call, with the prefix of the surface
 */
export function documentRoutes(baseUrl: () => string, surface: ServedSurface = servedOperators): RouteOptions[] {
  const served = (name: string) => serve(() => thread.make({ name, baseUrl: baseUrl() }))
  return surface.documents.map(({ name, path, operation }): RouteOptions => {
    const [whole, bare] = [served(name), served(name === 'getOpenApi' ? withoutSamples : name)]
    const isBare = ({ query }: FastifyRequest) => (query as { readonly samples?: unknown }).samples === 'false'
    return {
      method: 'GET',
      url: surface.prefix + path,
      handler: (request, reply) => (isBare(request) ? bare : whole)(request, reply),
      ...(operation === undefined ? {} : { config: { operation } }),
    }
  })
}

/** What a browser may do with a page; it changes nothing for what is no page. */
const pageHeaders = { 'Content-Security-Policy': docsContentSecurityPolicy, 'Referrer-Policy': 'no-referrer' } as const

const maxAgeSeconds = 300
/** For a file whose version is in its address. */
const versionedMaxAgeSeconds = 365 * 86_400

/** Makes the document on its first request, and keeps it. */
function serve(make: () => Promise<DocumentFile>) {
  let made: Promise<{ readonly version: string | undefined; readonly file: ServedFile }> | undefined
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    made ??= make().then((document) => ({ version: document.version, file: new ServedFile(document) }))
    const { version, file } = await made.catch((error: unknown) => {
      // The next request tries again.
      made = undefined
      throw error
    })
    // An address that named exactly this version of the file.
    const isVersion = version !== undefined && (request.query as { readonly v?: unknown }).v === version
    if (file.contentType.startsWith('text/html')) reply.headers(pageHeaders)
    const kept = isVersion ? `public, max-age=${versionedMaxAgeSeconds}, immutable` : `public, max-age=${maxAgeSeconds}`
    return file.send(request, reply, kept)
  }
}
