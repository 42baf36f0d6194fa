import { connect } from 'node:net'
import { text } from 'node:stream/consumers'

export interface RawRequest {
  readonly port: number
  readonly method: string
  /** Goes into the request line as it is. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** From which address of this machine; 127.0.0.1 when left out. */
  readonly from?: string
}

export interface RawAnswer {
  readonly status: number
  /** The error's code; undefined for a success, or for what the gateway did not write. */
  readonly code: string | undefined
}

/** Sends a request over a connection of its own, byte by byte as it is told: any client would tidy it up. */
export async function sendRaw({ port, method, path, headers, body, from }: RawRequest): Promise<RawAnswer> {
  const socket = connect({ host: '127.0.0.1', port, ...(from === undefined ? {} : { localAddress: from }) })
  const lines = [
    `${method} ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Connection: close',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(method === 'GET' && body.length === 0 ? [] : [`Content-Length: ${body.length}`]),
  ]
  socket.write(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body]))
  const answer = await text(socket)
  const [, code] = /"code":"([A-Z_]+)"/.exec(answer) ?? []
  return { status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]), code }
}
