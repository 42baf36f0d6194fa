// proof: takes a copy under load and goes back to it.
// waits: for servers to recover and for real time-outs.

import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventStream, serviceNames } from '@backoffice/contracts'
import { eventually, freePort, type HttpReply, recoverCopy, takeBaseBackup } from '@backoffice/test-kit'
import { jetstreamManager } from '@nats-io/jetstream'
import t from 'tap'
import { playerRequest } from '../journey.ts'
import { PostgresPart } from './backends.ts'
import type { Request } from './client.ts'
import type { Operator } from './load.ts'
import { MoneyBed } from './money-bed.ts'
import { judgeOperators, reconciliationProblems, untilSettled } from './oracle.ts'
import { decision, post } from './player.ts'
import { Random } from './random.ts'
import { comeBack, expectNone, lookBack } from './run.ts'

/**
 * PostgreSQL goes back to an earlier moment, and NATS does not: the stream holds events of a future that never was, and
 * consumers have acknowledged them.
 */
t.test('the services start on a restored copy of the database', async (t) => {
  const random = Random.of(t)
  const dir = mkdtempSync(join(tmpdir(), 'backoffice-restored-'))
  // PostgreSQL runs as somebody else.
  chmodSync(dir, 0o755)
  t.teardown(() => rmSync(dir, { recursive: true }))
  const options = { port: await freePort(), password: 'password-of-postgres', durable: 'process' } as const
  const [before, after] = [join(dir, 'before'), join(dir, 'after')]
  let postgres = await PostgresPart.start({ ...options, dir: before })
  t.teardown(() => postgres.stop())
  const money = await MoneyBed.start(t, random, { postgresUrl: postgres.url })
  const [kept, undone] = money.operators as [Operator, Operator]

  // One operator's clients are done before the backup, and nobody has heard of their events by then: webhooks is away.
  await money.bed.services.webhooks.drain()
  const first = money.load('first', [kept])
  await money.answers(20)
  await first.stop()
  await comeBack([kept], random)

  // The other's go on while the backup is taken, and after it.
  const second = money.load('second', [undone])
  const client = new RequestsOf(undone, random)
  const player = await client.register()
  const known = await client.deposit(player, '50.00')
  await money.answers(20)
  mkdirSync(after)
  const copy = join(after, 'data')
  await takeBaseBackup({ url: postgres.url, data: join(before, 'data'), copy, log: 'copied' })
  // There is no archive.
  recoverCopy(copy, { restore_command: 'false' })
  const confirmed = await client.confirm(known.body.id)
  const forgotten = await client.deposit(player, '7.00')
  const forgottenConfirmed = await client.confirm(forgotten.body.id)
  const withdrawn = await client.withdraw(player, '20.00')
  for (const { status } of [confirmed, forgotten, forgottenConfirmed, withdrawn]) t.equal(status < 300, true)
  await money.answers(20)
  await second.stop()
  // The future goes on until every event is consumed. The operators' servers are away, so that they hear of none.
  for (const { receiver } of money.operators) receiver.isAway = true
  await money.bed.start('webhooks').then((webhooks) => Object.assign(money.bed.services, { webhooks }))
  const manager = await jetstreamManager(await money.bed.nats('streams'), { checkAPI: false })
  const consumer = () => manager.consumers.info(eventStream, 'webhooks-schedule-delivery')
  await eventually(async () => {
    const { num_pending, num_ack_pending } = await consumer()
    return num_pending + num_ack_pending === 0
  })

  // One service lives on, as all do when a standby is promoted that was behind.
  const restarted = serviceNames.filter((name) => name !== 'payments')
  await Promise.all(restarted.map((name) => money.bed.services[name].drain()))
  await postgres.stop()
  postgres = await PostgresPart.start({ ...options, dir: after })
  for (const { receiver } of money.operators) receiver.isAway = false
  for (const name of restarted) Object.assign(money.bed.services, { [name]: await money.bed.start(name) })

  await t.test('every service starts, and does what was left to do', async (t) => {
    for (const name of serviceNames) {
      const url = `http://127.0.0.1:${money.bed.services[name].healthPort}/readyz`
      t.equal(await eventually(async () => (await fetch(url)).ok), true, `${name} is ready`)
    }
    await untilSettled(money)
    t.same(await reconciliationProblems(money), [])
  })

  await t.test('what was acknowledged after the backup is done again under its key, as a whole', async (t) => {
    t.equal((await client.balance(player)).available, '0.00')
    const again = await client.confirm(known.body.id)
    t.match(again.body, { id: known.body.id, status: 'confirmed' })
    t.equal((await client.balance(player)).available, '50.00')
    t.equal((await client.confirm(known.body.id)).bytes.equals(again.bytes), true, 'and from then on it is answered')

    const anew = await client.deposit(player, '7.00')
    t.equal(anew.status, 201)
    t.not(anew.body.id, forgotten.body.id, 'it is another record')
    t.match((await client.confirm(forgotten.body.id)).body.error, { code: 'DEPOSIT_NOT_FOUND' })
    t.match(await client.withdraw(player, '20.00'), { status: 201 })
    t.match(await client.balance(player), { available: '50.00', withdrawable: '30.00' })

    const answers = new Set<number | string>()
    for (const { history } of undone.players) {
      for (const { request, answer } of history) {
        if (answer === undefined || request.idempotencyKey === undefined) continue
        const { reply } = await undone.client.ask(request, random)
        // Some have a daily limit, and what is done anew may come in another order than before.
        answers.add(reply?.body?.error?.code === 'RG_BLOCKED' ? 'RG_BLOCKED' : (reply?.status ?? 0))
      }
    }
    t.same(
      [...answers].filter((answer) => ![200, 201, 404, 409, 422, 'RG_BLOCKED'].includes(answer)),
      [],
      'so is every other request, or it is answered as before, or refused because its record is gone',
    )
    await untilSettled(money)
    t.same(await reconciliationProblems(money), [], 'none of it is done by half')
  })

  await t.test('every event of the copy and every new one is delivered', async (t) => {
    const third = money.load('third', [kept])
    await money.answers(15)
    await third.stop()
    await comeBack([kept], random)
    await untilSettled(money)
    await lookBack([kept], random)
    const problems = await judgeOperators(money, [kept])
    expectNone(t, problems, random)

    const { rows } = await money.sql.query<{ id: string }>(
      `select d.id from payments.deposit d join gateway.brand b on b.id = d.brand_id
       where d.status = 'confirmed' and d.player_id = any($1)`,
      [[player, ...undone.players.map(({ id }) => id)]],
    )
    t.ok(rows.length > 0)
    const told = () => new Set([...undone.receiver.events.values()].map(({ data }) => data.id))
    t.ok(await eventually(() => rows.every(({ id }) => told().has(id))))
  })
})

/** Requests of one operator, each under the same key whenever it is sent. */
class RequestsOf {
  readonly #operator: Operator
  readonly #random: Random
  readonly #keys = new Map<string, string>()

  constructor(operator: Operator, random: Random) {
    this.#operator = operator
    this.#random = random
  }

  async register(): Promise<string> {
    const { id } = (await this.#post('/players', playerRequest())).body
    await this.#post(`/players/${id}/kyc/submissions`, { documentType: 'rg', reference: 'doc-1' })
    await this.#ask(decision(`players/${id}/kyc`, { status: 'aprovado' }))
    return id
  }

  deposit(playerId: string, amount: string): Promise<HttpReply> {
    const body = { amount, currency: 'BRL', method: 'pix', externalReference: `${playerId} ${amount}` }
    return this.#post(`/players/${playerId}/deposits`, body)
  }

  confirm(depositId: string): Promise<HttpReply> {
    return this.#post(`/deposits/${depositId}/confirm`, {})
  }

  withdraw(playerId: string, amount: string): Promise<HttpReply> {
    const body = { amount, currency: 'BRL', method: 'pix', destination: 'ana@example.com' }
    return this.#post(`/players/${playerId}/withdrawals`, body)
  }

  async balance(playerId: string): Promise<{ available: string; withdrawable: string }> {
    return (await this.#ask({ method: 'GET', path: `/players/${playerId}/wallet` })).body
  }

  #post(path: string, body: object): Promise<HttpReply> {
    const what = `${path} ${JSON.stringify(body)}`
    const idempotencyKey = this.#keys.get(what) ?? randomUUID()
    this.#keys.set(what, idempotencyKey)
    return this.#ask(post(path, body, idempotencyKey))
  }

  async #ask(request: Request): Promise<HttpReply> {
    const { reply } = await this.#operator.client.ask(request, this.#random)
    if (reply === undefined) throw new Error(`${request.path} is never answered`)
    return reply
  }
}
