import { randomUUID } from 'node:crypto'
import { detailsOf, errorAnchor, errorCatalogue, operations, type PublicErrorCode } from '@backoffice/contracts'
import {
  type HttpReply,
  newCpf,
  OperatorClient,
  proposalOf,
  type SharedSystem,
  type Teardown,
  type TestBed,
} from '@backoffice/test-kit'
import { Value } from '@sinclair/typebox/value'
import type { Test } from 'tap'
import type { services } from './services.ts'

/** The demo operator of a running system, in one environment. */
export function demoOperator(system: SharedSystem, environment: 'sandbox' | 'production' = 'sandbox'): OperatorClient {
  const operator = system.operators[0]
  if (operator === undefined) throw new Error('the system has no operator')
  return new OperatorClient(system.baseUrl, operator[environment])
}

/** A new operator's sandbox, whose limit no test reaches. */
export async function busyOperator(system: SharedSystem): Promise<OperatorClient> {
  const team = await system.asTeam('alice')
  const input = { name: `busy ${randomUUID().slice(0, 8)}`, rateLimitPerMinute: 1_000_000 }
  const { sandbox } = await team.call(operations.gateway.createOperator, { input })
  return new OperatorClient(system.baseUrl, { key: sandbox.key, secret: sandbox.secret ?? '' })
}

/** The same in a bed, with who it is. */
export async function operatorIn(
  t: Teardown,
  bed: Pick<TestBed<Pick<typeof services, 'gateway'>>, 'team' | 'services'>,
): Promise<{ readonly operatorId: string; readonly client: OperatorClient }> {
  const input = { name: `busy ${randomUUID().slice(0, 8)}`, rateLimitPerMinute: 10_000_000 }
  const { operatorId, sandbox } = await bed.team('alice').call(operations.gateway.createOperator, { input })
  const { baseUrl } = bed.services.gateway.addresses
  const client = new OperatorClient(baseUrl, { key: sandbox.key, secret: sandbox.secret ?? '' })
  t.teardown(() => client.close())
  return { operatorId, client }
}

export function playerRequest(externalId: string = randomUUID(), cpf: string = newCpf()) {
  return {
    externalId,
    name: 'Ana Souza',
    email: 'ana@example.com',
    cpf,
    phone: '+5511987654321',
    birthDate: '1990-05-17',
  }
}

export const depositRequest = (amount = '150.00', externalReference: string = randomUUID()) => ({
  amount,
  currency: 'BRL',
  method: 'pix',
  externalReference,
})

/** The body of an answer that must have this status. */
export function expectStatus(answer: HttpReply, status: number) {
  if (answer.status !== status) throw new Error(`expected ${status}, not ${answer.status}: ${answer.bytes}`)
  return answer.body
}

/** Steps of the usual order, each as an operator's server takes them. */
export async function register(operator: OperatorClient): Promise<{ id: string }> {
  return expectStatus(await operator.post('/players', playerRequest()), 201)
}

export async function createDeposit(
  operator: OperatorClient,
  playerId: string,
  amount?: string,
): Promise<{ id: string }> {
  return expectStatus(await operator.post(`/players/${playerId}/deposits`, depositRequest(amount)), 201)
}

/** @returns the id of the deposit */
export async function fund(operator: OperatorClient, playerId: string, amount: string): Promise<string> {
  const { id } = await createDeposit(operator, playerId, amount)
  expectStatus(await operator.post(`/deposits/${id}/confirm`), 200)
  return id
}

export async function balanceOf(operator: OperatorClient, playerId: string): Promise<string> {
  return expectStatus(await operator.get(`/players/${playerId}/wallet`), 200).available
}

/** Every item of a player's statement, page after page. */
export async function statementOf(operator: OperatorClient, playerId: string, limit = 50) {
  const items: { id: string; amount: string; type: string }[] = []
  let cursor: string | null = null
  do {
    const page: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`
    const body = expectStatus(await operator.get(`/players/${playerId}/transactions?limit=${limit}${page}`), 200)
    items.push(...body.data)
    cursor = body.nextCursor
  } while (cursor !== null)
  return items
}

/** In minor units, so that no floating point comes near. */
export const sumOf = (amounts: readonly string[]): bigint =>
  amounts.reduce((sum, amount) => sum + BigInt(amount.replace('.', '')), 0n)

type Bed = Pick<TestBed<never>, 'sql' | 'team'>
type Person = Parameters<Bed['team']>[0]
interface EndedCommand {
  readonly depositId: string
  readonly first: Person
  readonly second: Person
  readonly reason: string
}

/** Two people of the team give up the command that a deposit waits for. */
export async function endCommandOf(bed: Bed, { depositId, first, second, reason }: EndedCommand): Promise<void> {
  const command = `select id from payments.outbox where aggregate = $1 and kind = 'command'`
  const { rows } = await bed.sql('admin').query(command, [depositId])
  const input = { commandId: rows[0].id, reason }
  const { endCommand } = operations.payments
  const { proposalId: approves } = await proposalOf(bed.team(first).call(endCommand, { input }))
  await bed.team(second).call(endCommand, { input, approves })
}

/** Holds a refusal to the catalogue and the envelope. */
export function isRefusal(t: Test, answer: HttpReply, code: PublicErrorCode, details?: unknown): void {
  const { error } = answer.body ?? {}
  t.equal(`${answer.status} ${error?.code}`, `${errorCatalogue[code].status} ${code}`)
  t.equal(error?.requestId, answer.headers['x-request-id'], `${code}: requestId is X-Request-Id`)
  t.match(answer.headers['content-type'], 'application/json')
  t.equal(answer.headers.link, `</api/v1/docs#${errorAnchor(code)}>; rel="help"`)
  if (details !== undefined) t.match(error.details, details)
  const entry = detailsOf(code)
  if (error?.details === undefined) t.not(entry?.always, true, `${code} has details`)
  else t.strictSame(entry && [...Value.Errors(entry.schema, error.details)], [], `${code}: details as in the catalogue`)
}
