import assert from 'node:assert/strict'
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
import { writeRecords } from '../../src/commands/record.ts'
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

/** Characters from the heaviest in JSON to the lightest: an escaped one, one of 4 bytes, a quotation mark, a plain one. */
const characters = ['\u0001', '😀', '"', 'A', '1', 'a']

/** Long values of the patterns and formats that no repeated character fits. */
const samples = [
  '2026-03-02T12:00:00.000Z',
  '2026-03-02',
  '529.982.247-25',
  '52998224725',
  '9999999999999.99',
  '-9999999999999.99',
  `-${'9'.repeat(36)}.99`,
  '+551198765432101',
  `${'a'.repeat(64)}@${`${'b'.repeat(61)}.`.repeat(3)}br`,
  `whsec_${'A'.repeat(122)}`,
  `${'0'.repeat(45)}/128`,
  'A'.repeat(43),
  'trf_1',
  `https://${'a'.repeat(500)}`,
  'BRL',
  'America/Argentina/ComodRivadavia',
]

/** The name of a schema's part, for the fault. */
type At = string

/** Texts that no tenant writes, or that are parsed and written anew: ASCII that needs no escape. */
const ofOurMaking = /(^id|Id|^key|gameUrl|thumbnailUrl|timeZone|apiVersion)$/

const isNamed = (at: At, name: RegExp) => name.test(at.split('.').at(-1) ?? '')
const heaviestOf = <T>(values: readonly T[]): T | undefined => values.toSorted((a, b) => bytesOf(b) - bytesOf(a))[0]

/**
 * The heaviest value of a schema as JSON.
 * @throws {Error} naming the part that has no bound
 */
function longest(schema: TSchema, at: At): unknown {
  if (schema.const !== undefined) return schema.const
  if (schema.anyOf !== undefined) return heaviestOf((schema.anyOf as TSchema[]).map((member) => longest(member, at)))
  switch (schema.type) {
    case 'string':
      return longestText(schema, at)
    case 'integer':
      return Math.min(Number.MAX_SAFE_INTEGER, schema.maximum ?? Number.POSITIVE_INFINITY)
    case 'number':
      return (schema.maximum ?? Number.MAX_SAFE_INTEGER) - 1 / 3
    case 'boolean':
      return false
    case 'null':
      return null
    case 'array': {
      if (schema.maxItems === undefined) throw new Error(`${at} has no maxItems`)
      const { items, maxItems, uniqueItems } = schema
      if (uniqueItems && items.anyOf !== undefined) return items.anyOf.map((member: TSchema) => longest(member, at))
      const item = longest(items, `${at}[]`)
      // Texts that are unique differ in their last three characters.
      const nth = (n: number) => String(item).slice(0, -3) + String(n).padStart(3, '0')
      return Array.from({ length: maxItems }, (_, n) => (uniqueItems ? nth(n) : item))
    }
    case 'object':
      return Object.fromEntries(
        Object.entries(schema.properties as Record<string, TSchema>).map(([name, part]) => [
          name,
          longest(part, `${at}.${name}`),
        ]),
      )
    default:
      throw new Error(`${at} may be anything`)
  }
}

/** Without a maximum length a text is bounded by a pattern or a format that says how long it is. */
function isBounded({ maxLength, pattern, format }: TSchema): boolean {
  if (maxLength !== undefined || ['date', 'date-time'].includes(format)) return true
  const withoutClasses = String(pattern ?? '*').replaceAll(/\\.|\[(?:\\.|[^\]])*\]/g, 'x')
  return !/[*+]|\{\d+,\}/.test(withoutClasses)
}

function longestText(schema: TSchema, at: At): string {
  if (!isBounded(schema)) throw new Error(`${at} has no maxLength`)
  if (schema.pattern === undefined && schema.format === undefined && isNamed(at, ofOurMaking))
    return 'A'.repeat(schema.maxLength)
  const lengths = [schema.maxLength ?? 128, 64, 45, 32, 16, 15, 11, 3, 2, 1]
  const repeated = characters.flatMap((character) => {
    const length = lengths.find((length) => validate(schema, character.repeat(length)) === null)
    return length === undefined ? [] : [character.repeat(length)]
  })
  const found = heaviestOf([...repeated, ...samples.filter((sample) => validate(schema, sample) === null)])
  if (found === undefined) throw new Error(`${at}: no sample fits ${schema.pattern ?? schema.format}; add one`)
  return found
}

/** The heaviest value of a schema; it must be a value that is sent, or the figure would say nothing. */
function heaviest(schema: TSchema, name: string): unknown {
  const value = longest(schema, name)
  assert.equal(validate(schema, value), null, `${name}: the longest value is valid`)
  return value
}

/** What is stored, one by one: its name, a value as it is stored at the most, and how many bytes it may have. */
type Stored = readonly [name: string, value: () => unknown, bytesMax: number]
const ofOperations = (which: (operation: Operation) => boolean, storedOf: (operation: Operation) => Stored) =>
  allOperations.filter(which).map(storedOf)
const bodyOf = (operation: Operation) => heaviest(operation.body ?? Type.Object({}), nameOf(operation))

const stored: Readonly<Record<string, readonly Stored[]>> = {
  'the reply of a command': ofOperations(
    ({ kind }) => kind === 'command',
    (operation) => [
      nameOf(operation),
      () => ({ body: heaviest(operation.reply, nameOf(operation)) }),
      boundOf(operation),
    ],
  ),
  'what quotas count of a body': ofOperations(
    ({ stores }) => stores !== undefined,
    (operation) => [nameOf(operation), () => bodyOf(operation), storedBodyBytesMax],
  ),
  'an event, in the outbox and as the body of a webhook': eventKinds.map((kind) => [
    kind,
    () => ({ context, event: heaviest(eventEnvelope(kind), kind) }),
    storedBytesMax,
  ]),
  // A query changes nothing, so nobody sends one after a commit.
  'a command of an outbox': ofOperations(
    ({ audience, callers, kind }) => audience === 'internal' && !callers?.includes('gateway') && kind !== 'query',
    (operation) => [
      nameOf(operation),
      () => ({
        context,
        scope: heaviest(Scope, 'scope'),
        input: heaviest(inputSchema(operation), nameOf(operation)),
      }),
      storedBytesMax,
    ],
  ),
  'an entry of the audit trail': ofOperations(
    ({ audience, kind }) => audience === 'team' && kind !== 'query',
    (operation) => [nameOf(operation), () => bodyOf(operation), boundOf(operation)],
  ),
}

for (const [what, rows] of Object.entries(stored))
  t.test(`${what} is bounded, with the longest texts and lists`, async (t) => {
    t.ok(rows.length > 3)
    for (const [name, value, bytesMax] of rows) {
      const bytes = bytesOf(value())
      t.ok(bytes <= bytesMax, `${name}: ${bytes} bytes`)
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
  'payments.showPaymentFile': ['making'],
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
      governed: null,
    }
    return db.transaction((tx) => writeRecords(tx, [record], { command: {}, now: new Date() }))
  }
  await t.rejects(store('opn_long', storedBytesMax / 2), { message: /confirmDeposit would store more than 8192 bytes/ })
  await store('opn_short', storedBytesMax / 2 - 20)
  t.same(await db`select operation_id from operation`, [{ operationId: 'opn_short' }])
})
