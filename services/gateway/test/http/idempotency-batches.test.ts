import { randomUUID } from 'node:crypto'
import { operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type { Db } from '@backoffice/service-runtime'
import { testBed } from '@backoffice/test-kit'
import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { Idempotency } from '../../src/http/idempotency.ts'
import { gateway } from '../../src/service.ts'

const bed = await testBed(t, { gateway })
const { db, rpc } = bed.services.gateway
let statements = 0
const counted: Db = Object.assign(<Row extends object>(text: TemplateStringsArray, ...values: readonly unknown[]) => {
  statements++
  return db<Row>(text, ...values)
}, db)
const idempotency = new Idempotency({ db: counted, rpc, leaseMs: 30_000 })
const claim = async (key: string) => {
  const id = newId('req')
  const request = { id, method: 'POST', raw: { url: '/' }, headers: { 'idempotency-key': key }, body: undefined }
  const claimed = await idempotency.claim(
    operations.payments.createDeposit,
    { scope: bed.scope(), replayProtection: false },
    request as unknown as FastifyRequest,
  )
  if (claimed.is !== 'held') throw new Error('the key was used before')
  return claimed.claim
}
const reply = { status: 201, contentType: 'application/json', body: Buffer.from('{}'), requestId: 'req_1' }

t.test('requests that come together share statements: to claim, to store, to give back', async (t) => {
  const claims = await Promise.all(Array.from({ length: 150 }, () => claim(randomUUID())))
  const replies = await Promise.all(claims.slice(0, 100).map((held) => idempotency.storeReply(held, reply)))
  await Promise.all(claims.slice(100).map((held) => idempotency.releaseClaim(held)))
  t.equal(statements, 3)
  t.ok(replies.every((sent) => sent === reply))
})

t.test('no claim waits for replies that cannot be stored yet', async (t) => {
  const held = await Promise.all(Array.from({ length: 3 }, () => claim(randomUUID())))
  const other = await bed.sql('admin').connect()
  await other.query('begin')
  await other.query('select from gateway.claim where key = any($1) for update', [held.map(({ key }) => key)])
  let stored = 0
  const storing: Promise<unknown>[] = []
  for (const attempt of held) {
    storing.push(idempotency.storeReply(attempt, reply).then(() => stored++))
    // Each in a batch of its own, as many as may run at once and more.
    await new Promise(setImmediate)
  }
  await Promise.all(Array.from({ length: 50 }, () => claim(randomUUID())))
  t.equal(stored, 0)
  await other.query('commit')
  other.release()
  await Promise.all(storing)
})
