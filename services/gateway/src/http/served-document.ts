import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import type { DocumentFile } from '@backoffice/documents/served'
import { negotiate } from '@fastify/accept-negotiator'

/** In the order in which we prefer them, where a client likes several equally. Each works outside the main thread. */
const compressions = { br: promisify(brotliCompress), gzip: promisify(gzip) } as const
type Encoding = keyof typeof compressions | 'identity'
const encodings: readonly Encoding[] = ['br', 'gzip', 'identity']

/** Below this, compression saves no packet. */
const compressedBytesMin = 1_024

interface Answer {
  readonly encoding: Encoding
  readonly etag: string
  readonly body: Buffer
}

/** A document as it is sent: compressed once for each encoding that somebody asked for. */
export class ServedDocument {
  readonly #file: DocumentFile
  readonly #digest: string
  readonly #answers = new Map<Encoding, Promise<Answer>>()

  constructor(file: DocumentFile) {
    this.#file = file
    this.#digest = createHash('sha256').update(file.body).digest('base64url')
  }

  get contentType(): string {
    return this.#file.contentType
  }

  get isPage(): boolean {
    return this.#file.contentType.startsWith('text/html')
  }

  /** Whether an address named exactly this version of the file. */
  isVersion(query: unknown): boolean {
    return this.#file.version !== undefined && (query as { readonly v?: unknown }).v === this.#file.version
  }

  /** The document in the encoding that a client likes best, of those that we have. */
  answer(acceptEncoding: string | undefined): Promise<Answer> {
    const accepted = (negotiate(acceptEncoding ?? '', [...encodings]) ?? 'identity') as Encoding
    const encoding = this.#file.body.length < compressedBytesMin ? 'identity' : accepted
    const answer = this.#answers.get(encoding) ?? this.#made(encoding)
    this.#answers.set(encoding, answer)
    return answer
  }

  /** Other bytes have another tag, so that no cache takes one encoding for another. */
  async #made(encoding: Encoding): Promise<Answer> {
    const { buffer, byteOffset, byteLength } = this.#file.body
    const body = Buffer.from(buffer, byteOffset, byteLength)
    if (encoding === 'identity') return { encoding, etag: `"${this.#digest}"`, body }
    return { encoding, etag: `"${this.#digest}-${encoding}"`, body: await compressions[encoding](body) }
  }
}
