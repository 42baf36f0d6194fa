import { METHODS } from 'node:http'
import { createConnection } from 'node:net'
import { inLanes } from './in-lanes.ts'

const bodies: readonly (readonly string[])[] = [
  ['', ''],
  ['Content-Length: 2', '', '{}'],
  ['Content-Type: application/json', 'Content-Length: 2', '', '{}'],
  ['Content-Type: application/json', 'Content-Length: 1', '', '{'],
  ['Content-Type: ;', 'Content-Length: 2', '', '{}'],
  ['Content-Length: 2000', '', 'x'.repeat(2000)],
  ['Transfer-Encoding: chunked', '', '2\r\n{}\r\n0\r\n\r\n'],
  ['Transfer-Encoding: gzip, chunked', '', '0\r\n\r\n'],
]

/**
 * Sends every method that Node reads, with every form of a body, to each path.
 * @param headers that each request has
 * @returns what was answered otherwise than by a status below 500
 */
export async function answeredAsFaults(
  url: string,
  paths: readonly string[],
  headers: readonly string[] = [],
): Promise<readonly string[]> {
  const port = Number(new URL(url).port)
  const answer = (lines: readonly string[]) =>
    new Promise<string>((resolve) => {
      let text = ''
      // Not ended: Node closes a connection whose other side is, also before it has answered.
      const socket = createConnection(port, '127.0.0.1', () => socket.write(lines.join('\r\n')))
      socket.setEncoding('latin1').on('data', (chunk) => (text += chunk))
      socket.on('error', ({ message }) => (text += message)).on('close', () => resolve(text))
    })
  const requests = METHODS.filter((method) => method !== 'CONNECT').flatMap((method) =>
    bodies.flatMap((body) =>
      paths.map((path) => [`${method} ${path} HTTP/1.1`, 'Host: x', 'Connection: close', ...headers, ...body]),
    ),
  )
  const faulty: string[] = []
  await inLanes(requests, async (lines) => {
    const text = await answer(lines)
    if (!/^HTTP\/1\.1 [1-4]/.test(text)) faulty.push(`${lines.slice(0, 5).join(', ')}: ${text.slice(0, 200)}`)
  })
  return faulty
}
