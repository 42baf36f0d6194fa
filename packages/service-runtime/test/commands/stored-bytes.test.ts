import {
  allOperations,
  eventEnvelope,
  eventKinds,
  type Operation,
  pageBytesMax,
  Scope,
  storedBodyBytesMax,
  storedBytesMax,
} from '@backoffice/contracts'
import { inputSchema, validate } from '@backoffice/rpc'
import { testBed } from '@backoffice/test-kit'
import { type TSchema, Type } from '@sinclair/typebox'
import t from 'tap'
import { noGate } from '../../src/commands/gate.ts'
import { writeRecords } from '../../src/commands/record.ts'
import { longest } from '../longest.ts'
import { payments } from '../probe-services.ts'

/** The request and the trace that an outbox row comes from. */
const context = {
  requestId: `req_${'0'.repeat(60)}`,
  traceparent: `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`,
  tracestate: '0'.repeat(512),
}
const replyBytesMax = 1_000_000
const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value))
const nameOf = ({ service, id }: Operation) => `${service}.${id}`
const boundOf = (operation: Operation) => operation.storedBytesMax ?? storedBytesMax

/** The heaviest value of a schema; it must be a value that is sent, or the figure would say nothing. */
function heaviest(schema: TSchema, name: string): unknown {
  const value = longest(schema, name)
  const issues = validate(schema, value)
  t.same(issues ?? [], [], `${name}: the longest value is valid`)
  return value
}

t.test('the reply that is stored of each command is bounded, with the longest texts and lists', async (t) => {
  for (const operation of allOperations.filter(({ kind }) => kind === 'command')) {
    const bytes = bytesOf({ body: heaviest(operation.reply, nameOf(operation)) })
    t.ok(bytes <= boundOf(operation), `${nameOf(operation)}: ${bytes} bytes`)
  }
})

t.test('what quotas count of a body covers the longest fields', async (t) => {
  for (const operation of allOperations.filter(({ stores }) => stores !== undefined)) {
    const bytes = bytesOf(heaviest(operation.body ?? Type.Object({}), nameOf(operation)))
    t.ok(bytes <= storedBodyBytesMax, `${nameOf(operation)}: ${bytes} bytes`)
  }
})

t.test('each event is bounded, in the outbox and as the body of a webhook', async (t) => {
  for (const kind of eventKinds) {
    const bytes = bytesOf({ context, event: heaviest(eventEnvelope(kind), kind) })
    t.ok(bytes <= storedBytesMax, `${kind}: ${bytes} bytes`)
  }
})

t.test('each command of an outbox is bounded', async (t) => {
  for (const operation of allOperations.filter(({ audience }) => audience === 'internal')) {
    // A query changes nothing, so nobody sends one after a commit.
    if (operation.callers?.includes('gateway') || operation.kind === 'query') continue
    const input = heaviest(inputSchema(operation), nameOf(operation))
    const bytes = bytesOf({ context, scope: heaviest(Scope, 'scope'), input })
    t.ok(bytes <= storedBytesMax, `${nameOf(operation)}: ${bytes} bytes`)
  }
})

t.test('each entry of the audit trail is bounded', async (t) => {
  for (const operation of allOperations.filter(({ audience, kind }) => audience === 'team' && kind !== 'query')) {
    const bytes = bytesOf(heaviest(operation.body, nameOf(operation)))
    t.ok(bytes <= boundOf(operation), `${nameOf(operation)}: ${bytes} bytes`)
  }
})

/** The rows of these lists come in pages, whose bytes are bounded where they are read. */
const isPage = ({ reply }: Operation) => 'data' in (reply.properties ?? {}) && 'nextCursor' in reply.properties
/** Replies that are cut where they are read, each with what bounds it. */
const cut: Readonly<Record<string, readonly string[]>> = {
  'players.getKyc': ['submissions'],
  'players.showPlayer': ['submissions', 'changes'],
  'players.exportPlayer': ['rows'],
  'payments.exportPlayer': ['rows'],
  'wallet.exportPlayer': ['rows'],
  'webhooks.showDelivery': ['attemptLog'],
  // A call as it is stored, where it is bounded.
  'payments.showWithdrawal': ['approval'],
  'reconciler.reconcileWallet': ['report'],
}
/** Their rows have the input of a call, which is bounded where it is stored. */
const withStoredInput = ['listAudit', 'exportAudit', 'listProposals']

/** The documents are made by this repository, the games are rows of its migrations, and these replies have one record. */
const ofOurOwn = ['players.listGames', 'players.findPlayers']

t.test('every other reply fits into a message of the broker, with its rows in pages', async (t) => {
  const queries = allOperations.filter(({ kind, audience }) => kind !== 'command' && audience !== 'public')
  for (const operation of queries.filter((operation) => !ofOurOwn.includes(nameOf(operation)))) {
    const name = nameOf(operation)
    if (operation.id === 'abandonOperation') continue
    const { data: rows, ...fields } = operation.reply.properties as Record<string, TSchema>
    const withoutCut = Object.fromEntries(Object.entries(fields).filter(([field]) => !cut[name]?.includes(field)))
    const paged = isPage(operation)
    const rest = heaviest(Type.Object(paged || rows === undefined ? withoutCut : { ...withoutCut, data: rows }), name)
    const bytes = bytesOf(rest) + (paged ? pageBytesMax : 0) + (cut[name]?.length ?? 0) * pageBytesMax
    t.ok(bytes <= replyBytesMax, `${name}: ${bytes} bytes`)
    if (!paged || withStoredInput.includes(operation.id)) continue
    const row = bytesOf(heaviest(rows?.items, `${name}[]`))
    t.ok(row <= pageBytesMax, `${name}: a row of ${row} bytes fits into a page`)
  }
})

t.test('a reply beyond the bound is stored nowhere: the call fails, and its transaction with it', async (t) => {
  const { db } = (await testBed(t, { payments })).services.payments
  const store = (operationId: string, letters: number) => {
    const reply = { body: { text: 'é'.repeat(letters) } }
    const record = {
      operationId,
      name: 'confirmDeposit',
      scope: undefined,
      fingerprint: '',
      reply,
      rows: [],
      audit: null,
    }
    return db.transaction((tx) => writeRecords(tx, [record], { gate: noGate, now: new Date() }))
  }
  await t.rejects(store('opn_long', storedBytesMax / 2), { message: /confirmDeposit would store more than 8192 bytes/ })
  await store('opn_short', storedBytesMax / 2 - 20)
  t.same(await db`select operation_id from operation`, [{ operationId: 'opn_short' }])
})
