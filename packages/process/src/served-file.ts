import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, gzip } from 'node:zlib'
import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyReply, FastifyRequest } from 'fastify'

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

/** A public file as it is sent: compressed once for each encoding that somebody asked for. */
export class ServedFile {
  readonly contentType: string
  readonly #body: Buffer
  readonly #digest: string
  readonly #answers = new Map<Encoding, Promise<Answer>>()

  constructor({ contentType, body }: { readonly contentType: string; readonly body: Uint8Array }) {
    this.contentType = contentType
    this.#body = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    this.#digest = createHash('sha256').update(body).digest('base64url')
  }

  /** In the encoding that the client likes best, of those that we have. */
  async send(request: FastifyRequest, reply: FastifyReply, cacheControl: string): Promise<FastifyReply> {
    const { encoding, etag, body } = await this.#answer(request.headers['accept-encoding'])
    reply.headers({ ETag: etag, 'Cache-Control': cacheControl, Vary: 'Accept-Encoding' })
    if (isNamed(etag, request.headers['if-none-match'])) return reply.code(304).send()
    if (encoding !== 'identity') reply.header('Content-Encoding', encoding)
    return reply.header('Content-Type', this.contentType).send(body)
  }

  #answer(acceptEncoding = ''): Promise<Answer> {
    const accepted = (negotiate(acceptEncoding, [...encodings]) ?? 'identity') as Encoding
    const encoding = this.#body.length < compressedBytesMin ? 'identity' : accepted
    const answer = this.#answers.get(encoding) ?? this.#made(encoding)
    this.#answers.set(encoding, answer)
    return answer
  }

  /** Other bytes have another tag, so that no cache takes one encoding for another. */
  async #made(encoding: Encoding): Promise<Answer> {
    if (encoding === 'identity') return { encoding, etag: `"${this.#digest}"`, body: this.#body }
    return { encoding, etag: `"${this.#digest}-${encoding}"`, body: await compressions[encoding](this.#body) }
  }
}

/** A proxy may have made the tag a weak one. For a GET that is the same. */
const isNamed = (etag: string, ifNoneMatch = '') =>
  ifNoneMatch.split(',').some((tag) => ['*', etag].includes(tag.trim().replace(/^W\//, '')))
