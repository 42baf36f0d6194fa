import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { eventually, type HttpReply, type OperatorClient } from '@backoffice/test-kit'
import type { Fleet } from './fleet.ts'

export interface Operator {
  readonly id: string
  readonly name: string
  readonly key: string
  readonly secret: string
  readonly webhookSecret: string
}

/** A new operator's sandbox. The first answer may have to wait for services that are only just there. */
export async function newOperator({ bed }: Pick<Fleet, 'bed'>, rateLimitPerMinute = 1_000_000): Promise<Operator> {
  const input = { name: `operator ${randomUUID().slice(0, 8)}`, rateLimitPerMinute }
  const created = await eventually(() => bed.team('alice').call(operations.gateway.createOperator, { input }))
  const { key, secret, webhookSecret } = created.sandbox
  return { id: created.operatorId, name: created.name, key, secret: secret ?? '', webhookSecret: webhookSecret ?? '' }
}

export const newPlayer = () => ({
  externalId: randomUUID(),
  name: 'Ana Souza',
  email: 'ana@example.com',
  cpf: '529.982.247-25',
  birthDate: '1990-05-17',
})

export const newDeposit = (amount = '1.00') => ({
  amount,
  currency: 'BRL',
  method: 'pix',
  externalReference: randomUUID(),
})

/** @throws unless the answer has this status */
export function expectStatus({ status, bytes, body }: HttpReply, expected: number) {
  if (status !== expected) throw new Error(`expected ${expected}, not ${status}: ${bytes}`)
  return body
}

export async function register(client: OperatorClient): Promise<string> {
  return expectStatus(await client.post('/players', newPlayer()), 201).id
}

export async function fund(client: OperatorClient, playerId: string, amount = '1.00'): Promise<string> {
  const { id } = expectStatus(await client.post(`/players/${playerId}/deposits`, newDeposit(amount)), 201)
  expectStatus(await client.post(`/deposits/${id}/confirm`), 200)
  return id
}

/** Every item of the statement sums to the balance, in minor units. */
export async function statementAgrees(client: OperatorClient, playerId: string): Promise<boolean> {
  const { available } = expectStatus(await client.get(`/players/${playerId}/wallet`), 200)
  let sum = 0n
  let cursor: string | null = null
  do {
    const page: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const body = expectStatus(await client.get(`/players/${playerId}/transactions?limit=200${page}`), 200)
    for (const { amount } of body.data) sum += BigInt(amount.replace('.', ''))
    cursor = body.nextCursor
  } while (cursor !== null)
  return sum === BigInt(available.replace('.', ''))
}

/** Differences that a reconciliation over everything finds. */
export async function reconcile({ bed }: Pick<Fleet, 'bed'>): Promise<number> {
  const team = bed.team('alice')
  const { runId } = await team.call(operations.reconciler.reconcileWallet, { input: {} })
  return eventually(async () => {
    const { state, report, failure } = await team.call(operations.reconciler.reconcileWallet, { input: { runId } })
    if (state === 'failed') throw new Error(failure ?? 'failed')
    return state === 'done' && { total: report?.differencesTotal ?? Number.NaN }
  }, 60_000).then(({ total }) => total)
}
