import { Worker } from 'node:worker_threads'
import type { DocumentFile } from '@backoffice/documents/served'

export interface DocumentRequest {
  readonly id: number
  /** Of the document: its operation's id, or its path below /api/v1 if it has none. */
  readonly name: string
  /** The address that clients call, as the document shows it. */
  readonly baseUrl: string
}

export type DocumentReply =
  | { readonly id: number; readonly file: DocumentFile }
  | { readonly id: number; readonly error: unknown }

/**
 * Makes documents in a thread of its own. To load what makes them and to make one takes up to half a second, in which
 * this thread would answer no signed request. It starts with the first document.
 */
export class DocumentThread {
  readonly #waiting = new Map<number, PromiseWithResolvers<DocumentFile>>()
  #worker: Worker | undefined
  #lastId = 0

  /** @throws when it cannot be made, or the thread dies. The next document starts another. */
  make(request: Omit<DocumentRequest, 'id'>): Promise<DocumentFile> {
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
      if (this.#waiting.size === 0) worker.unref()
      if ('file' in reply) made?.resolve(reply.file)
      else made?.reject(reply.error)
    })
    worker.once('error', (error) => {
      fault = error
    })
    worker.once('exit', (status) => {
      this.#worker = undefined
      for (const made of this.#waiting.values())
        made.reject(fault ?? new Error(`the thread of the documents ended with ${status}`))
      this.#waiting.clear()
    })
    return worker
  }
}
