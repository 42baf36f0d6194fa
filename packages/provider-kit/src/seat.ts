import { randomInt, randomUUID } from 'node:crypto'
import type { BackOfficeClient } from '@backoffice/client'
import { isCpf } from '@backoffice/contracts/formats'
import type { ProviderClient } from './client.ts'
import type { Seat } from './simulator.ts'

/** Who a session was opened for: what a launch tells a game. */
export async function readSeat(client: ProviderClient, sessionId: string): Promise<Seat> {
  const { status, body } = await client.get(`/sessions/${sessionId}`)
  if (status !== 200) throw new Error(`session ${sessionId} is answered with ${status} ${body?.error?.code ?? ''}`)
  const { playerId, gameId, currency } = body
  return { playerId, sessionId, gameId, currency }
}

/** A new player in an operator's sandbox, with an approved identity, money and an open game. */
export async function openSeat(operator: BackOfficeClient, gameId: string, amount: string): Promise<Seat> {
  const reference = randomUUID()
  const person = { name: 'Ana Souza', email: 'ana@example.com', cpf: newCpf(), birthDate: '1990-05-17' }
  const { id: playerId } = await operator.registerPlayer({ externalId: reference, ...person })
  await operator.submitKyc(playerId, { documentType: 'rg', reference })
  await operator.decideKyc(playerId, 'aprovado')
  const payment = { amount, currency: 'BRL', method: 'pix', externalReference: reference } as const
  await operator.confirmDeposit((await operator.createDeposit(playerId, payment)).id)
  const session = await operator.openGameSession(playerId, gameId)
  return { playerId, sessionId: session.id, gameId, currency: 'BRL' }
}

/** A number with the right check digits, of nobody in particular. */
function newCpf(): string {
  const digits = String(randomInt(1e9)).padStart(9, '0')
  const numbers = Array.from({ length: 100 }, (_, check) => `${digits}${String(check).padStart(2, '0')}`)
  return numbers.find(isCpf) ?? newCpf()
}
