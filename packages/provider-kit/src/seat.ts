import { randomUUID } from 'node:crypto'
import { signRequest } from '@backoffice/contracts/signing'
import { type Credentials, httpTransport, type ProviderClient } from './client.ts'
import type { Seat } from './simulator.ts'

/** Who a session was opened for: what a launch tells a game. */
export async function readSeat(client: ProviderClient, sessionId: string): Promise<Seat> {
  const { status, body } = await client.get(`/sessions/${sessionId}`)
  if (status !== 200) throw new Error(`session ${sessionId} is answered with ${status} ${body?.error?.code ?? ''}`)
  const { playerId, gameId, currency } = body
  return { playerId, sessionId, gameId, currency }
}

/** An operator's sandbox, with as much of its API as it takes to have somebody play. */
export class SandboxOperator {
  readonly #baseUrl: string
  readonly #credentials: Credentials
  readonly #transport = httpTransport(30_000)

  /** @param baseUrl with the /api/v1 prefix */
  constructor(baseUrl: string, credentials: Credentials) {
    this.#baseUrl = baseUrl
    this.#credentials = credentials
  }

  async brandId(): Promise<string> {
    return (await this.#call('GET', '/me')).brand.id
  }

  /** A new player with an approved identity, money and an open game. */
  async openSeat(gameId: string, amount: string): Promise<Seat> {
    const name = randomUUID()
    const person = {
      externalId: name,
      name: 'Ana Souza',
      email: 'ana@example.com',
      cpf: newCpf(),
      birthDate: '1990-05-17',
    }
    const { id } = await this.#call('POST', '/players', person)
    await this.#call('POST', `/players/${id}/kyc/submissions`, { documentType: 'rg', reference: name })
    await this.#call('POST', `/sandbox/players/${id}/kyc/decision`, { status: 'aprovado' })
    const payment = { amount, currency: 'BRL', method: 'pix', externalReference: name }
    const deposit = await this.#call('POST', `/players/${id}/deposits`, payment)
    await this.#call('POST', `/deposits/${deposit.id}/confirm`, {})
    const session = await this.#call('POST', `/players/${id}/game-sessions`, { gameId })
    return { playerId: id, sessionId: session.id, gameId, currency: 'BRL' }
  }

  /** Every item of a player's statement, newest first. */
  async statement(playerId: string): Promise<readonly { readonly type: string; readonly amount: string }[]> {
    const items = []
    let cursor: string | null = null
    do {
      const page = await this.#call(
        'GET',
        `/players/${playerId}/transactions?limit=100${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`,
      )
      items.push(...page.data)
      cursor = page.nextCursor
    } while (cursor !== null)
    return items
  }

  close(): void {
    this.#transport.close()
  }

  // biome-ignore lint/suspicious/noExplicitAny: as the operators' reference shows it
  async #call(method: 'GET' | 'POST', path: string, fields?: object): Promise<any> {
    const url = new URL(`${this.#baseUrl}${path}`)
    const body = fields === undefined ? '' : JSON.stringify(fields)
    const timestamp = String(Math.floor(Date.now() / 1_000))
    const { key, secret } = this.#credentials
    const headers: Record<string, string> = {
      'X-Operator-Key': key,
      'X-Timestamp': timestamp,
      'X-Signature': signRequest(secret, { method, path: `${url.pathname}${url.search}`, timestamp, body }),
      ...(fields === undefined ? {} : { 'Content-Type': 'application/json', 'Idempotency-Key': randomUUID() }),
    }
    const answer = await this.#transport.send({ method, url: url.href, headers, body })
    if (answer.status >= 300)
      throw new Error(`${method} ${path} is answered with ${answer.status} ${JSON.stringify(answer.body?.error)}`)
    return answer.body
  }
}

/** A number with the right check digits, of nobody in particular. */
function newCpf(): string {
  const digits = Array.from({ length: 9 }, () => Math.floor(Math.random() * 10))
  for (const length of [9, 10]) {
    const sum = digits.slice(0, length).reduce((total, digit, index) => total + digit * (length + 1 - index), 0)
    digits.push(((sum * 10) % 11) % 10)
  }
  return digits.join('')
}
