import { randomBytes } from 'node:crypto'
import {
  allOperations,
  type FieldSchema,
  type Operation,
  residentServices,
  type ServiceName,
  serviceNames,
  takesNull,
} from '@backoffice/contracts'
import { createLogger } from '@backoffice/process'
import { eventually } from '@backoffice/test-kit'
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import t from 'tap'
import { packToken, unpackToken } from '../src/identity/cookies.ts'
import type { Person } from '../src/identity/person.ts'
import { drawArrivals } from '../src/pieces/arrivals.ts'
import { moment, nothing, rowWith, text, time } from '../src/pieces/cells.ts'
import { sendEvents } from '../src/pieces/counts.ts'
import { type CsvRow, cellText, sendCsv, tableOf } from '../src/pieces/listed.ts'
import { proposalsFor } from '../src/pieces/open-proposals.ts'
import { pagesOf } from '../src/pieces/queue.ts'
import type { Visit } from '../src/pieces/visit.ts'
import { sentenceIn, textIn } from '../src/words/index.ts'

type Rows = AsyncGenerator<readonly CsvRow[]>

const log = createLogger('console', 'silent')
/** The name of the person who asks. */
const personOf = ({ headers }: FastifyRequest) => ({ name: String(headers.person ?? 'alice') })
const as = (name: string, signal: AbortSignal) => ({ signal, headers: { person: name } })

t.test('on a phone a second time says of what it is, and so does a word that tells it to nobody', async (t) => {
  const at = moment('2026-11-29T10:00:00.000Z')
  const { columns } = tableOf([rowWith({ tool: text('cli'), startedAt: at, endedAt: at, twoPeople: text('always') })])
  const named = columns.filter(({ look }) => look === 'named')
  t.same(
    named.map(({ field }) => field),
    ['endedAt', 'twoPeople'],
  )
})

t.test('what a field of a form takes is said in Portuguese', async (t) => {
  // No form asks for these: its page fixes them, or only a command line sends them.
  const fixed = [
    'id',
    'providerId',
    'transferId',
    'transactionId',
    'session',
    'submission',
    'seen',
    'grant',
    'status',
    'states',
  ]
  const unasked = [...fixed, 'currency', 'destinationDigest', 'paymentFile', 'after', 'restoredTo']
  for (const { roles, kind, body } of allOperations as readonly Operation[])
    for (const [name, { description = '' }] of Object.entries((body as FieldSchema | undefined)?.properties ?? {}))
      if (roles && kind !== 'query' && !/^(Opaque identifier\.)?$/.test(description) && !unasked.includes(name))
        t.not(sentenceIn('pt-BR', description), description, `${name}: ${description}`)
})

t.test('what happened to a delivery is said in Portuguese, with why', async (t) => {
  const said = {
    'Delivered on attempt 1, 3 ms after the event.': 'Entregue na tentativa 1, 3 ms depois do evento.',
    'Given up after 12 attempts, 2 d 3 h after the event. The last one: The receiver answered 502.':
      'Encerrada após 12 tentativas, 2 d 3 h depois do evento. A última: O servidor respondeu 502.',
    'Tried once; the next attempt is due in 4 min. The last one: No answer within 10 s.':
      'Uma tentativa; a próxima é em 4 min. A última: Sem resposta em 10 s.',
  }
  for (const [english, portuguese] of Object.entries(said)) t.equal(sentenceIn('pt-BR', english), portuguese)
})

t.test('files that are sent while they are read', async (t) => {
  let rows: () => Rows = async function* () {}
  const app = fastify({ forceCloseConnections: true })
  app.get('/', (request, reply: FastifyReply) =>
    sendCsv({ log, reply, person: personOf(request) } as Visit, 'rows', rows()),
  )
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())

  await t.test('one that fails at its beginning is no file', async (t) => {
    rows = async function* () {
      yield [['title']]
      throw Object.assign(new Error('refused'), { statusCode: 403 })
    }
    t.equal((await fetch(url)).status, 403)
  })

  await t.test('one that fails later is broken off, so that nobody takes it for whole', async (t) => {
    rows = async function* () {
      yield [['title']]
      yield [['first']]
      yield [['second']]
      throw new Error('a service is away')
    }
    const response = await fetch(url)
    t.equal(response.status, 200)
    await t.rejects(response.text())
  })

  await t.test('so many are sent at once, to one person fewer, and whoever leaves makes room', async (t) => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    rows = async function* () {
      yield [['title']]
      yield [['first']]
      await held
    }
    const leaving = new AbortController()
    const get = async (name: string) => (await fetch(url, as(name, leaving.signal))).status
    for (const name of ['alice', 'bob', 'carol', 'dana', 'eve'])
      t.same(await Promise.all([get(name), get(name), get(name)]), [200, 200, 429], name)
    t.equal(await get('felipe'), 429)
    leaving.abort()
    release()
    await eventually(async () => (await fetch(url)).status === 200)
  })
})

t.test('one person who opens streams leaves those of others alone, and gets others once theirs end', async (t) => {
  const app = fastify({ forceCloseConnections: true })
  app.get('/', (request, reply) =>
    sendEvents(
      { log, reply, request, person: personOf(request) } as Visit,
      { stopping: new AbortController().signal },
      async function* (signal) {
        yield 'data: 1\n\n'
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      },
    ),
  )
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  t.teardown(() => app.close())
  const leaving = new AbortController()
  const get = async (name: string) => (await fetch(url, as(name, leaving.signal))).status
  const statuses = await Promise.all(Array.from({ length: 30 }, () => get('alice')))
  t.equal(statuses.filter((status) => status === 200).length, 20)
  t.equal(statuses.filter((status) => status === 503).length, 10)
  t.equal(await get('bob'), 200)
  leaving.abort()
  const again = new AbortController()
  await eventually(async () => (await fetch(url, as('alice', again.signal))).status === 200)
  again.abort()
})

t.test('a cell is text that no spreadsheet runs; a number stays one', async (t) => {
  for (const formula of ['=1+1', '+1', '-cmd', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '－1', '+5511999990000'])
    t.equal(cellText(formula), `'${formula}`)
  for (const before of [' ', '\u00a0', '\u2003', '\u2800', '\u3164', '\ufe0f', '\u034f \u200b'])
    t.match(cellText(`${before}=1+1`), /^'/, 'also behind what is not seen')
  for (const plain of ['-5.00', '0', '12.50', 'ana@example.com', 'a=b', '']) t.equal(cellText(plain), plain)
  t.equal(cellText('evil\u202etxt'), 'evil\\u202etxt')
})

t.test('on a phone a time beside another one has its name, and so has each side of a difference', async (t) => {
  const looks = (cells: Parameters<typeof rowWith>[0]) => tableOf([rowWith(cells)]).columns.map(({ look }) => look)
  const [name, at, nobody] = [text('a'), time('2026-03-02T12:00:00.000Z'), text('–')]
  t.same(looks({ subject: name, createdAt: at, revokedAt: at }), ['', '', 'named'])
  t.same(looks({ subject: name, createdAt: at, revokedAt: nothing }), ['', ''])
  t.same(looks({ subject: name, expected: nobody, actual: text('5.00'), explanation: name }), [
    '',
    'named',
    'named',
    '',
  ])
})

t.test('a list goes forth and back, whatever its cursors are', async (t) => {
  const cursors = ['Azul, Ltda', '10~20 & 5%', 'prv_1/brd_1/a+b,c~d']
  const at = (address: string) => Object.fromEntries(new URL(address, 'http://console').searchParams)
  const pageAt = (query: Readonly<Record<string, string>>) => {
    const nextCursor = query.after === undefined ? cursors[0] : cursors[cursors.indexOf(query.after) + 1]
    return pagesOf({ query, address: (path) => path }, '/operators', { rows: 50, nextCursor })
  }
  const queries: Readonly<Record<string, string>>[] = [{}]
  for (const after of cursors) {
    const query = at(pageAt(queries.at(-1) ?? {}).more ?? '')
    t.equal(query.after, after)
    queries.push(query)
  }
  for (const [index, query] of queries.entries()) {
    const { previous } = pageAt(query)
    if (index === 0) t.equal(previous, undefined)
    else t.strictSame(at(previous ?? ''), queries[index - 1])
  }
})

/** The names of fields that may be null, wherever they stand in a reply. */
const nullableIn = (schema: FieldSchema): readonly string[] => [
  ...Object.entries<FieldSchema>(schema.properties ?? {}).flatMap(([name, field]) => [
    ...(takesNull(field) ? [name] : []),
    ...nullableIn(field),
  ]),
  ...(schema.items === undefined ? [] : nullableIn(schema.items)),
  ...(schema.anyOf ?? []).flatMap((one) => nullableIn(one as FieldSchema)),
]

t.test('every field that pages name says in its own words that it has no value', async (t) => {
  const read = allOperations.filter(({ audience, kind }) => audience === 'team' && kind === 'query')
  const fields = new Set(read.flatMap(({ reply }) => nullableIn(reply as FieldSchema)))
  const named = [...fields].filter((name) => textIn('en', `field.${name}`) !== undefined)
  t.ok(named.includes('dailyDepositLimit'))
  for (const name of named)
    for (const language of ['en', 'pt-BR'] as const) t.match(textIn(language, `none.${name}`), /\p{L}/u, name)
})

const token = (claims: object, signatureBytes = 256) =>
  [{ alg: 'RS256', kid: 'key' }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat(randomBytes(signatureBytes).toString('base64url'))
    .join('.')
const groups = (count: number) => Array.from({ length: count }, () => crypto.randomUUID())

t.test('an ID token comes out of its cookie as it went in', async (t) => {
  for (const claims of [{}, { name: 'José Ñandú 🂡', groups: groups(20) }, { text: 'x'.repeat(5_000) }]) {
    const before = token(claims)
    t.equal(unpackToken(packToken(before)), before)
  }
})

t.test('an ID token of 2 kB fits into a cookie of 4 kB, with room left', async (t) => {
  const before = token({ iss: 'https://identity.example', groups: groups(40) })
  t.ok(before.length > 2_000)
  t.ok(packToken(before).length < 2_900, `${before.length} characters, packed ${packToken(before).length}`)
})

t.test('what is not written as a JWS is refused, and does not come out as something else', async (t) => {
  t.throws(() => packToken('eyJ==.e30.c2ln'))
})

t.test('the count beside the menu asks every service that always runs: in production the reconciler too', async (t) => {
  const askedOf = async (resident: readonly ServiceName[]) => {
    const asked: ServiceName[] = []
    const call = async ({ service }: Operation) => {
      asked.push(service)
      return { data: [], nextCursor: null }
    }
    await proposalsFor({ resident, mayCall: () => true, call } as unknown as Person)
    return asked
  }
  t.notOk((await askedOf(residentServices)).includes('reconciler'))
  t.ok((await askedOf(serviceNames)).includes('reconciler'))
})

t.test('rows that end where no more are read say that there may be more', async (t) => {
  const counts = { events: [2], inTime: [1] }
  const said = async (length: number) => {
    const data = Array.from({ length }, (_, place) => ({ operatorId: `op_${place}`, ...counts }))
    const call = async ({ id }: Operation) =>
      id === 'listDeliveryHours' ? { hours: ['now'], data, ...counts } : { data: [], nextCursor: null }
    const display = { t: (name: string) => textIn('en', name), number: String, percent: String, shortTime: String }
    const [, byOperator] = await drawArrivals({ person: { call }, display, address: String } as unknown as Visit)
    return byOperator?.remark
  }
  t.same([await said(9), await said(10)], [undefined, textIn('en', 'firstOnly')])
})
