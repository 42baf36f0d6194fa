// proof: runs a rewritten copy of the repository beside this one.

import { randomUUID } from 'node:crypto'
import {
  allOperations,
  type Input,
  type Operation,
  operations,
  seenOfWithdrawal,
  serviceNames,
} from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type { Interceptor } from '@backoffice/service-runtime/testing'
import {
  eventually,
  type HttpCall,
  type HttpReply,
  OperatorClient,
  reconcile,
  testBed,
  type Unseen,
  withSeen,
} from '@backoffice/test-kit'
import t from 'tap'
import { depositRequest, expectStatus, fund, playerRequest, register } from '../journey.ts'
import { services } from '../services.ts'
import { hasField } from './added-field.ts'
import { startLoad } from './load.ts'
import { makeNextRelease } from './next-release.ts'
import { newOperator, statementAgrees } from './operators.ts'
import { startReceiver } from './receiver.ts'

/** NATS gives a call to either replica, by chance. So rounds are made until each release has had each part. */
const roundsMax = 60
const roundsAtOnce = 4

class PatientClient extends OperatorClient {
  override send(method: string, path: string, call: HttpCall = {}): Promise<HttpReply> {
    const same = { idempotencyKey: randomUUID(), ...call }
    return eventually(async () => {
      const reply = await super.send(method, path, same)
      return reply.status !== 503 && reply
    })
  }
}

const isUnavailable = (error: unknown) => (error as { code?: unknown }).code === 'SERVICE_UNAVAILABLE'
const isTimeOut = (error: unknown) => (error as { name?: unknown }).name === 'TimeoutError'

t.test('a next release that adds a field to every message serves beside this one, and nobody notices', async (t) => {
  const failures: string[] = []
  const intercept = (): Interceptor => async (step, run) => {
    try {
      return await run()
    } catch (error) {
      const excused = { call: isUnavailable, publish: isTimeOut, statement: () => true, commit: () => true }
      // A refusal that is no accident goes on, and then a message is missing below.
      if (!excused[step.kind](error)) failures.push(`${step.kind} ${step.name}: ${error}`)
      throw error
    }
  }
  const patiently = async <T>(name: string, call: () => Promise<T>): Promise<T> => {
    const { value } = await eventually(async () => {
      try {
        return { value: await call() }
      } catch (error) {
        if (!isUnavailable(error)) failures.push(`call ${name}: ${error}`)
        return false
      }
    })
    return value
  }
  const bed = await testBed(t, services, { intercept })
  const next = await makeNextRelease(t, bed, intercept)
  const nextAddresses = (await next.start()).gateway.addresses as typeof bed.services.gateway.addresses

  const operator = await newOperator({ bed })
  const receiver = await startReceiver(t, { bed }, operator)
  const clients = [bed.services.gateway.addresses, nextAddresses].map(({ baseUrl }) => {
    const client = new PatientClient(baseUrl, operator)
    t.teardown(() => client.close())
    return client
  }) as [OperatorClient, OperatorClient]
  const loads = []
  for (const client of clients) {
    const load = startLoad(client, [(await register(client)).id])
    t.teardown(() => load.stop())
    loads.push(load)
  }

  const teams = [bed.team('alice'), await next.client('alice')] as const
  const gateways = [bed.rpc, await next.client('gateway')] as const
  const { brand } = expectStatus(await clients[0].get('/me'), 200)
  const scope = bed.scope({ operatorId: operator.id, brandId: brand.id })
  const asked = new Set<string>()
  const deposits: string[] = []
  const withdrawals: string[] = []
  const playerIds: string[] = []
  const pix = { currency: 'BRL', method: 'pix' }

  /** Every operation of the API, over one gateway. */
  async function useApi(client: OperatorClient, team: (typeof teams)[number]): Promise<string> {
    const person = playerRequest()
    const playerId = expectStatus(await client.post('/players', person), 201).id
    expectStatus(await client.get(`/players?externalId=${person.externalId}`), 200)
    const document = { documentType: 'rg', reference: 'doc-1' }
    expectStatus(await client.post(`/players/${playerId}/kyc/submissions`, document), 201)
    expectStatus(await client.post(`/sandbox/players/${playerId}/kyc/decision`, { status: 'aprovado' }), 200)
    expectStatus(await client.get(`/players/${playerId}/kyc`), 200)
    deposits.push(await fund(client, playerId, '22.50'))
    const { id: depositId } = expectStatus(
      await client.post(`/players/${playerId}/deposits`, depositRequest('1.00')),
      201,
    )
    expectStatus(await client.post(`/deposits/${depositId}/fail`), 200)
    const request = { amount: '5.00', destination: 'ana@example.com', ...pix }
    const ask = async () => expectStatus(await client.post(`/players/${playerId}/withdrawals`, request), 201).id
    const [paid, cancelled] = [await ask(), await ask()]
    for (const decision of ['approve', 'pay'])
      expectStatus(await client.post(`/sandbox/withdrawals/${paid}/decision`, { decision }), 200)
    expectStatus(await client.post(`/withdrawals/${cancelled}/cancel`), 200)
    withdrawals.push(paid)
    expectStatus(await client.get(`/withdrawals/${paid}`), 200)
    const wished = { playerId, dailyDepositLimit: '1000.00', reason: 'a test' }
    const limit = await withSeen(team, operations.players.setDailyLimit, wished)
    const operationId = newId('opn')
    await patiently('setDailyLimit', () => team.call(operations.players.setDailyLimit, { input: limit, operationId }))
    const [game] = expectStatus(await client.get('/games'), 200).data
    expectStatus(await client.post(`/players/${playerId}/game-sessions`, { gameId: game.id }), 201)
    expectStatus(await client.post('/webhooks/test'), 200)
    t.equal(expectStatus(await client.get(`/players/${playerId}/wallet`), 200).available, '17.50')
    t.ok(await statementAgrees(client, playerId), 'the statement sums to the balance')
    playerIds.push(playerId)
    return playerId
  }

  /** One operation or more of each service, as the team and from one service to another. */
  async function useTeam(team: (typeof teams)[number], rpc: (typeof gateways)[number], playerId: string) {
    const call = async <O extends Operation>(operation: O, given: Unseen<O>) => {
      const name = `${operation.service}.${operation.id}`
      asked.add(name)
      const operationId = newId('opn')
      const input = await withSeen(team, operation, given)
      return patiently(name, () => team.call(operation, { input, operationId }))
    }
    const callAsGateway = <O extends Operation>(operation: O, input: Input<O>) => {
      const operationId = newId('opn')
      return patiently(operation.id, () => rpc.call(operation, { scope, input, operationId }))
    }
    const ofOperator = { operatorId: operator.id, environment: 'sandbox' as const }
    await call(operations.gateway.createOperator, { name: randomUUID() })
    await call(operations.gateway.getOperator, { name: operator.name })
    await call(operations.gateway.showHomologation, { operatorId: operator.id })
    await call(operations.players.showPlayer, { playerId })
    await call(operations.players.kycQueue, { brandId: brand.id, limit: 5 })
    await call(operations.players.setDailyLimit, { playerId, dailyDepositLimit: '2000.00', reason: 'a test' })
    await call(operations.wallet.adjustWallet, { playerId, amount: '1.00', reference: randomUUID(), reason: 'a test' })
    await call(operations.wallet.listEntries, { playerId, limit: 5 })
    await call(operations.payments.listDeposits, { brandId: brand.id, playerId, limit: 5 })
    const request = { playerId, amount: '1.00', destination: 'ana@example.com', ...pix }
    const { id } = await callAsGateway(operations.payments.requestWithdrawal, request)
    await call(operations.payments.withdrawalQueue, { brandId: brand.id, limit: 50 })
    const seen = seenOfWithdrawal(await call(operations.payments.showWithdrawal, { withdrawalId: id }))
    const decision = { withdrawalId: id, ...seen, decision: 'reject', reason: 'a test' } as const
    await call(operations.payments.decideWithdrawal, decision)
    await call(operations.webhooks.showWebhook, ofOperator)
    const { data } = await call(operations.webhooks.listDeliveries, { ...ofOperator, limit: 5 })
    if (data[0] !== undefined) await call(operations.webhooks.showDelivery, { id: data[0].id })
    const { id: left } = await callAsGateway(operations.players.registerPlayer, playerRequest())
    await call(operations.players.setPlayerStatus, { playerId: left, status: 'encerrado', reason: 'a test' })
    await call(operations.players.anonymisePlayer, { playerId: left, reason: 'a test' })
    for (const service of serviceNames) {
      await call(operations[service].listAudit, { limit: 5 })
      // The gateway does not call itself, and nothing of operators comes to the reconciler.
      if (service === 'gateway' || service === 'reconciler') continue
      await callAsGateway(operations[service].abandonOperation, { abandonedOperationId: newId('opn') })
    }
  }

  const isAsked = ({ audience, service, id }: Operation) => {
    // A credit that can never be done is not made here.
    if (audience === 'public' || id === operations.wallet.refuseCredit.id) return false
    return audience === 'team' ? asked.has(`${service}.${id}`) : service !== 'gateway' && service !== 'reconciler'
  }
  /** What one release has not yet written and the other one read. */
  const missing = () => {
    const { answeredByThis, askedByThis, events } = next.seen
    const calls = allOperations
      .filter(isAsked)
      .flatMap(({ service, id }) => [
        ...(answeredByThis.has(`${service}.${id}`) ? [] : [`${service}.${id}, asked by the next release`]),
        ...(askedByThis.has(`${service}.${id}`) ? [] : [`${service}.${id}, asked by this release`]),
      ])
    const heard = ['kyc.status_changed', 'deposit.confirmed', 'withdrawal.status_changed'].flatMap((type) => {
      const received = receiver.events.filter((event) => event.type === type)
      // What reached the operator, and not the next release's webhooks, was read by this one's.
      const byThis = received.some(({ id, data }) => hasField(data) && !events.has(id))
      const byNext = received.some(({ id }) => events.get(id) === false)
      return [...(byThis ? [] : [`${type} of the next release`]), ...(byNext ? [] : [`${type} of this release`])]
    })
    return [...calls, ...heard]
  }

  let rounds = 0
  do {
    await Promise.all(
      Array.from({ length: roundsAtOnce }, async (_, index) => {
        const [api, team, rpc] = [index & 1, (index >> 1) & 1, index & 1] as const
        const playerId = await useApi(clients[api] as OperatorClient, teams[team] as (typeof teams)[number])
        await useTeam(teams[team] as (typeof teams)[number], gateways[rpc] as (typeof gateways)[number], playerId)
      }),
    )
    rounds += roundsAtOnce
  } while (missing().length > 0 && rounds < roundsMax)
  for (const load of loads) await load.stop()

  const arrived = (type: string, id: string, status: string) =>
    receiver.events.some((event) => event.type === type && event.data.id === id && event.data.status === status)
  await eventually(
    () =>
      deposits.every((id) => arrived('deposit.confirmed', id, 'confirmed')) &&
      withdrawals.every((id) => arrived('withdrawal.status_changed', id, 'paid')),
  )
  t.same(missing(), [], 'each message went from each release to the other')
  t.same(
    loads.flatMap((load) => load.failures),
    [],
  )
  t.same(failures, [], 'no call between services and no publication failed')
  for (const service of serviceNames) {
    const admin = bed.sql('admin')
    t.equal((await admin.query(`select from ${service}.set_aside_message`)).rowCount, 0, `${service} set nothing aside`)
    await eventually(async () => {
      return (await admin.query(`select from ${service}.outbox`)).rowCount === 0
    })
  }
  // A field that is added on the way was not signed.
  const { differences } = await reconcile(bed.team('alice'))
  const ofBooks = differences.filter(({ actual }) => !actual.endsWith('the signature is for another call'))
  t.same(ofBooks, [], 'the reconciliation finds nothing')
  t.comment(`${rounds} rounds, ${loads.map(({ answered }) => answered).join(' and ')} requests beside them`)
})
