// proof: two processes of each service.

import { eventually, OperatorClient, reconcile } from '@backoffice/test-kit'
import t from 'tap'
import { depositRequest, expectStatus, register } from '../journey.ts'
import { baseUrlOf, startFleet } from './fleet.ts'
import { newOperator, statementAgrees } from './operators.ts'
import { startReceiver } from './receiver.ts'

const fleet = await startFleet(t)
const replicas = await fleet.startAll(2)

/** Sends each request to the next gateway. */
class SpreadClient {
  readonly #clients: readonly OperatorClient[]
  #sent = 0

  constructor(credentials: { readonly key: string; readonly secret: string }) {
    this.#clients = replicas.gateway.map(({ port }) => new OperatorClient(baseUrlOf(port), credentials))
    t.teardown(() => Promise.all(this.#clients.map((client) => client.close())))
  }

  get next(): OperatorClient {
    this.#sent += 1
    return this.#clients[this.#sent % this.#clients.length] as OperatorClient
  }
}

const times = <T>(count: number, run: (index: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)))

const clients = 16
const operationsTotal = 200

t.test(
  `${operationsTotal} money operations by ${clients} clients: books that agree, and each event once`,
  async (t) => {
    const operator = await newOperator(fleet)
    const spread = new SpreadClient(operator)
    const receiver = await startReceiver(t, fleet, operator)
    const playerIds = await times(8, async () => {
      const { id } = await register(spread.next)
      expectStatus(await spread.next.post(`/sandbox/players/${id}/kyc/decision`, { status: 'aprovado' }), 200)
      return id
    })

    const expectedEvents: string[] = []
    const deposit = async (playerId: string) => {
      const { id } = expectStatus(await spread.next.post(`/players/${playerId}/deposits`, depositRequest('7.00')), 201)
      expectStatus(await spread.next.post(`/deposits/${id}/confirm`), 200)
      expectedEvents.push(`deposit.confirmed ${id} confirmed`)
    }
    const withdraw = async (playerId: string, decisions: readonly (readonly [decision: string, status: string])[]) => {
      const body = { amount: '5.00', currency: 'BRL', method: 'pix', destination: 'ana@example.com' }
      const asked = await spread.next.post(`/players/${playerId}/withdrawals`, body)
      if (asked.body.error?.code === 'INSUFFICIENT_FUNDS') return
      const { id } = expectStatus(asked, 201)
      for (const [decision, status] of decisions) {
        expectStatus(await spread.next.post(`/sandbox/withdrawals/${id}/decision`, { decision }), 200)
        expectedEvents.push(`withdrawal.status_changed ${id} ${status}`)
      }
    }
    const paid = [
      ['approve', 'approved'],
      ['pay', 'paid'],
    ] as const
    const rejected = [['reject', 'rejected']] as const
    let begun = 0
    await times(clients, async () => {
      for (let number = begun++; number < operationsTotal; number = begun++) {
        const playerId = playerIds[number % playerIds.length] ?? ''
        if (number % 5 < 3) await deposit(playerId)
        else await withdraw(playerId, number % 5 === 3 ? paid : rejected)
      }
    })

    for (const playerId of playerIds) t.ok(await statementAgrees(spread.next, playerId), 'balance and statement agree')
    t.equal((await reconcile(fleet.bed.team('alice'))).differencesTotal, 0, 'the reconciliation finds nothing')

    const arrived = () => receiver.events.map(({ type, data }) => `${type} ${data.id} ${data.status}`)
    await eventually(() => expectedEvents.every((event) => arrived().includes(event)))
    t.ok(expectedEvents.some((event) => event.endsWith('paid')))
    const ids = receiver.events.map(({ id }) => id)
    t.same(
      ids.filter((id, index) => ids.indexOf(id) !== index),
      [],
      `${ids.length} events arrived once each`,
    )
    const money = arrived().filter((event) => /^(deposit|withdrawal)\./.test(event))
    t.same(money.toSorted(), expectedEvents.toSorted(), 'and nothing arrived that did not happen')
    // Each replica has a relay of its own: what is marked as sent was sent by one of them.
    for (const service of ['payments', 'webhooks'] as const) {
      await eventually(async () => {
        const { rows } = await fleet.bed.sql('admin').query(`select from ${service}.outbox`)
        return rows.length === 0
      })
    }
  },
)
