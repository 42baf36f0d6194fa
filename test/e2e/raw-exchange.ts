import { connect } from 'node:net'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { patiently } from '@backoffice/process'

/** One HTTP response as it came over the wire. */
export interface RawResponse {
  readonly status: number
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

const silenceMsMax = patiently(60_000)

/**
 * Sends bytes over a connection of their own, exactly as they are: any client would tidy them up.
 * @param options.isWhole false for a request that ends too early. The connection is then half closed, so that the
 *   server need not wait for the rest
 * @param options.hasBody false for a response that has none, as that to HEAD
 * @returns null when the server closed the connection without a response
 * @throws when the server says nothing at all
 */
export function exchange(
  port: number,
  bytes: Buffer,
  { isWhole, hasBody }: { readonly isWhole: boolean; readonly hasBody: boolean },
): Promise<RawResponse | null> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const socket = connect({ host: '127.0.0.1', port }, () => (isWhole ? socket.write(bytes) : socket.end(bytes)))
    const settle = (response: RawResponse | null) => {
      resolve(response)
      socket.destroy()
    }
    socket.setTimeout(silenceMsMax, () => {
      reject(new Error(`the server was silent for ${silenceMsMax} ms`))
      socket.destroy()
    })
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      const response = readResponse(Buffer.concat(chunks), hasBody)
      if (response !== null) settle(response)
    })
    // The server may close while the rest of a large request is still on its way.
    socket.on('error', () => settle(readResponse(Buffer.concat(chunks), hasBody)))
    socket.on('close', () => settle(readResponse(Buffer.concat(chunks), hasBody)))
  })
}

/** The first final response in these bytes, once all of it has come. */
function readResponse(bytes: Buffer, hasBody: boolean): RawResponse | null {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return null
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1])
  // 100 Continue comes before the response.
  if (status < 200) return readResponse(bytes.subarray(end + 4), hasBody)
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const length = hasBody && status !== 304 ? Number(headers['content-length'] ?? 0) : 0
  const body = bytes.subarray(end + 4)
  if (body.length < length) return null
  return { status, headers, text: decoded(body.subarray(0, length), headers['content-encoding']).toString() }
}

/** A document is compressed for whoever accepts that. */
function decoded(body: Buffer, encoding: string | undefined): Buffer {
  if (body.length === 0) return body
  return encoding === 'gzip' ? gunzipSync(body) : encoding === 'br' ? brotliDecompressSync(body) : body
}
