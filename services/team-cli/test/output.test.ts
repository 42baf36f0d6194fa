import { readdirSync, readFileSync } from 'node:fs'
import { allOperations, type Operation, operations, Rejection } from '@backoffice/contracts'
import { inputSchema, validate } from '@backoffice/rpc'
import { captured } from '@backoffice/test-kit/captured'
import t from 'tap'
import { allRows } from '../src/commands/index.ts'
import { type Column, columnWidths, printError, printTable } from '../src/output.ts'
import { type AnyRow, fieldsOf, hours, integer, moment, wordings } from '../src/row.ts'
import { operator, proposedBy, provider, recorded, typed, wordsFor } from './typed.ts'

const rows = await allRows()

const nameOf = ({ service, id }: { service: string; id: string }) => `${service}.${id}`

const report = { state: 'done', report: { differencesTotal: 0 } }
const proposal = await proposedBy('alice', operations.gateway.issueCredential, {
  ...{ operatorId: 'op_1', environment: 'production', seen: { name: 'Casa Azul' }, reason: 'new' },
})
const player = { name: 'Ana', operatorId: 'op_1', environment: 'production', currency: 'BRL' }
const transfer = { playerId: 'ply_1', amount: '1.00', currency: 'BRL', method: 'pix' }
// In the sandbox nobody is paid, and nobody's approval is asked for.
const withdrawal = { ...transfer, environment: 'sandbox', destination: 'ana', destinationSalt: '' }
/** What is read before something is decided. */
const records: Readonly<Record<string, object>> = {
  showWithdrawal: withdrawal,
  showPlayer: { ...player, status: 'ativo', selfExclusion: null, dailyDepositLimit: null, submissions: [] },
  listOperators: {
    data: [{ name: 'Casa Azul', brands: [], credentials: [{ key: 'some-1', environment: 'sandbox' }] }],
    nextCursor: null,
  },
  showWebhook: { url: null },
  showPaymentFile: { environment: 'sandbox', waiting: 1 },
  showDelivery: { type: 'deposit.confirmed' },
  listEntries: {
    data: [{ playerId: 'some-1', type: 'DEPOSIT', amount: '1.00', currency: 'BRL' }],
    nextCursor: null,
  },
  listCommands: { data: [{ operation: 'wallet.creditAccount', subject: 'dep_1' }], nextCursor: null },
  showDeposit: { id: 'dep_1', playerId: 'some-1', environment: 'sandbox', amount: '1.00', currency: 'BRL' },
  showDocumentUrl: { template: null },
  getProvider: provider,
  listProviders: { data: [provider], nextCursor: null },
  listRounds: {
    data: [
      { ...{ providerId: 'prv_1', brandId: 'brd_1', state: 'open', staked: '1.00', won: '0.00', currency: 'BRL' } },
    ],
    nextCursor: null,
  },
  listHeldWins: {
    data: [
      {
        ...{ providerId: 'prv_1', brandId: 'brd_production', transactionId: 'some-1', playerId: 'ply_1' },
        ...{ amount: '1.00', currency: 'BRL' },
      },
    ],
    nextCursor: null,
  },
  listWinLimits: { data: [], otherwise: '1.00' },
}
const approved = { ...proposal, state: 'approved', decidedBy: 'bob', decidedAt: new Date().toISOString() }
/** Secrets are collected of what somebody has approved. */
const repliesTo =
  ({ path }: AnyRow) =>
  (operation: Operation) => {
    const { service, id } = operation
    const shown = records[id]
    if (shown !== undefined) return shown
    if (id === 'listSessions') return { data: [{ name: 'some-1', id: 'https://issuer some-1', latestSessionAt: '' }] }
    const kept = path === 'proposals collect' ? approved : proposal
    const data = id === 'listProposals' && service === 'gateway' ? [kept] : []
    return { data, rows: [], totals: [], nextCursor: null, ...report }
  }

t.test('every operation of the team has a command', async (t) => {
  const ofTeam = allOperations
    .filter(({ audience, byIdentityProvider }) => audience === 'team' && !byIdentityProvider)
    .map(nameOf)
  t.same(new Set(rows.flatMap(({ operation, also = [] }) => [operation, ...also].map(nameOf))), new Set(ofTeam))
})

t.test('no two commands have one name', async (t) => {
  t.equal(new Set(rows.map(({ path }) => path)).size, rows.length)
})

t.test('every field that is said in other words is a field of some operation', async (t) => {
  const fields = new Set(rows.flatMap(({ operation }) => Object.keys(operation.body.properties)))
  for (const name of Object.keys(wordings)) t.ok(fields.has(name), name)
})

for (const row of rows) {
  t.test(`${row.path} takes what its operation takes`, async (t) => {
    // What is given is in one of the two calls: leaving a field out may be what an option means.
    const given = new Set<string>()
    for (const how of ['all', 'needed'] as const) {
      const words = wordsFor(row, how)
      const { error, ...all } = await typed(words, repliesTo(row), recorded)
      t.equal(error, undefined, words.join(' '))
      const sent = all.sent.filter(({ operation }) => [row.operation, ...(row.also ?? [])].includes(operation))
      t.ok(sent.length > 0)
      for (const { operation, input } of sent) t.equal(validate(inputSchema(operation), input), null, words.join(' '))
      for (const name of sent.flatMap(({ input }) => Object.keys(input))) given.add(name)
    }
    const decided = Object.keys(row.fixed ?? {})
    const missing = Object.keys(row.operation.body.properties).filter((name) => !given.has(name))
    for (const name of missing) t.ok(decided.includes(name), `${name} of the body can be given`)
  })

  t.test(`${row.path} sends nothing while something that it needs is missing`, async (t) => {
    for (const field of fieldsOf(row)) {
      const byPosition = row.arguments?.includes(field.name as never) || row.either?.includes(field.name as never)
      if (!field.required || field.nullable || field.default !== undefined || byPosition) continue
      const words = wordsFor(row, 'needed')
      words.splice(words.indexOf(field.flags.split(' ')[0] ?? ''), 2)
      const { sent, error } = await typed(words, repliesTo(row))
      t.ok(error, words.join(' '))
      t.same(sent, [])
    }
  })
}

/** As much of JSON Schema as replies use. */
interface Schema {
  readonly type?: string
  readonly const?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

/** What may not reach a terminal as it is. */
const unsafe = [
  ...Array.from({ length: 0x20 }, (_, code) => code),
  ...Array.from({ length: 0x21 }, (_, code) => 0x7f + code),
  // Marks, embeddings, overrides and isolates of direction; separators of lines and paragraphs; invisible characters.
  ...[0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069],
  ...[0x2028, 0x2029, 0xad, 0x200b, 0x200c, 0x200d, 0x2060, 0xfeff, 0xe0041],
].map((code) => String.fromCodePoint(code))
const hostile = `a${unsafe.join('b')}z`
const unsafeIn = (text: string) => unsafe.filter((character) => text.replaceAll('\n', '').includes(character))

/** A reply of an operation's shape, with the text of each field, and what stands where anything may. */
const replyOf = (schema: Schema, textOf: (field: string) => string, anything: object, field = ''): unknown => {
  const part = (one: Schema, name = field) => replyOf(one, textOf, anything, name)
  if (schema.type === 'object')
    return Object.fromEntries(
      Object.entries<Schema>(schema.properties ?? {}).map(([name, property]) => [name, part(property, name)]),
    )
  if (schema.items !== undefined) return [part(schema.items), part(schema.items)]
  if (schema.type === 'string') return textOf(field)
  if (schema.type === 'integer' || schema.type === 'number') return 1
  if (schema.type === 'boolean') return true
  const [first] = schema.anyOf ?? []
  return first === undefined ? (schema.const ?? anything) : part(first)
}
const hostileReply = (schema: Schema) => replyOf(schema, () => hostile, { anything: hostile })

/** They end only for replies of a certain form. They print through the same functions. */
const ofOneForm = [
  ...['wallet reconcile', 'statement export', 'play export', 'commands end'],
  ...[
    'proposals show',
    'proposals approve',
    'proposals collect',
    'proposals decline',
    'sessions lock',
    'sessions unlock',
  ],
]
const shown = (row: AnyRow) => !ofOneForm.includes(row.path)

for (const row of rows.filter(shown)) {
  t.test(`${row.path}: text of others moves no cursor, makes no row and does not hide`, async (t) => {
    const words = wordsFor(row, 'needed').filter((word) => word !== '--json')
    const reply = () => ({ ...(hostileReply(row.operation.reply as Schema) as object), nextCursor: null })
    // What is read before something is decided has the form that the decision needs.
    const first = (operation: Operation) => (operation === row.operation ? undefined : records[operation.id])
    const given = (operation: Operation) => first(operation) ?? reply()
    const [people, program] = [await typed(words, given), await typed([...words, '--json'], given)]
    for (const { stdout, stderr, error } of [people, program]) {
      t.equal(error, undefined)
      t.same([...unsafeIn(stdout), ...unsafeIn(stderr)], [])
    }
    const lines = (made: () => unknown) =>
      typed(words, (operation) => first(operation) ?? made()).then(({ stdout }) => stdout.split('\n').length)
    const harmless = JSON.parse(JSON.stringify(reply()).replaceAll(JSON.stringify(hostile), '"a"'))
    t.equal(people.stdout.split('\n').length, await lines(() => harmless), 'as many lines as for harmless text')
    // A row with a `run` prints what it makes of several replies.
    if (row.run !== undefined) return
    const whole = reply() as { readonly data?: unknown }
    t.same(JSON.parse(program.stdout), row.columns === undefined ? whole : whole.data, 'the JSON is whole')
  })
}

const named: Readonly<Record<string, object>> = {
  namePlayers: { data: [{ playerId: 'ply_1', name: 'Ana', operatorId: 'op_1', brandId: 'brd_production' }] },
  listOperators: { data: [operator], nextCursor: null },
  listProviders: { data: [provider], nextCursor: null },
  listGameProviders: { data: [{ gameId: 'gam_1', name: 'Reels' }] },
  listWinLimits: { data: [], otherwise: '1.00' },
}
const texts: Readonly<Record<string, string>> = {
  ...{ playerId: 'ply_1', operatorId: 'op_1', brandId: 'brd_production', providerId: 'prv_1', gameId: 'gam_1' },
  ...{ name: 'Ana', playerName: 'Ana', operatorName: 'Casa Azul', providerName: 'Evolution', gameName: 'Reels' },
  ...{ subject: 'dep_1', amount: '9.00', currency: 'BRL' },
}
const { playerId, operatorId, brandId, providerId } = texts
const call = { playerId, operatorId, brandId, providerId, environment: 'production', amount: '50.00', reference: 'x' }

for (const row of rows.filter(({ columns, isNamed }) => columns !== undefined || isNamed)) {
  t.test(`${row.path}: no id stands alone where a name is known`, async (t) => {
    const words = wordsFor(row, 'needed').filter((word) => word !== '--json')
    const shape = row.operation.reply as Schema
    const reply = { ...(replyOf(shape, (field) => texts[field] ?? 'x', call) as object), nextCursor: null }
    const { stdout, error, sent } = await typed(words, (operation) =>
      operation.id === row.operation.id ? reply : (named[operation.id] ?? reply),
    )
    t.equal(error, undefined)
    t.ok(sent.filter(({ operation }) => operation.id === 'namePlayers').length <= 1, 'all are named at once')
    t.notMatch(stdout.replaceAll(/Ana +ply_1|ply_1 Ana/g, ''), /\b(ply|op|brd|prv)_/)
    if (row.path === 'rounds list') t.match(stdout, 'Reels gam_1')
    if (/^(proposals|audit) list$/.test(row.path)) t.match(stdout, /Ana ply_1 Casa Azul Evolution production 50.00 BRL/)
  })
}

t.test('a brand of the sandbox is told from that of production', async (t) => {
  const limits = ['sandbox', 'production'].map((environment, index) => {
    return { providerId, brandId: `brd_${environment}`, maxWin: `${index + 1}00.00` }
  })
  const list = { data: limits, otherwise: '10.00', nextCursor: null }
  const { stdout } = await typed(['wins', 'limits'], ({ id }) => (id === 'listWinLimits' ? list : named[id]))
  t.match(stdout, /Evolution +Casa Azul sandbox +100\.00 BRL *\nEvolution +Casa Azul +200\.00 BRL/)
  t.match(stdout, 'otherwise  10.00, in the currency of each brand')
  const cut = { ...list, nextCursor: 'prv_1/brd_1' }
  const first = await typed(['wins', 'limits', '--limit', '2'], ({ id }) => (id === 'listWinLimits' ? cut : named[id]))
  t.match(first.stdout, 'there are more')
})

t.test('a player is named in rows of its own brand alone: a provider may name those of others', async (t) => {
  const data = ['production', 'sandbox'].map((name) => ({ playerId, brandId: `brd_${name}`, outcome: name }))
  for (const rows of [data, data.toReversed()]) {
    const { stdout, sent } = await typed(['play', 'list'], ({ id }) => named[id] ?? { data: rows, nextCursor: null })
    t.match(stdout, /production .*Ana ply_1/)
    t.notMatch(stdout, /sandbox .*Ana/)
    const [asked] = sent.filter(({ operation }) => operation.id === 'namePlayers')
    t.same(asked?.input, { players: rows.map(({ brandId: id }) => ({ playerId, brandId: id })) })
  }
})

t.test('amounts say in which currency they are, once', async (t) => {
  const amounts = { currency: 'BRL', amount: '1.00', staked: '2.00', balanceAfter: '3.00', maxWin: '4.00' }
  const row = { brandId, providerId, reference: { type: 'deposit', id: 'dep_1' }, ...amounts }
  const list = { data: [row], round: row, nextCursor: null }
  const replies = { ...named, setWinLimit: { brandId, providerId, maxWin: '4.00' } }
  const replyTo = ({ id }: { readonly id: string }) => replies[id as keyof typeof replies] ?? list
  const shown = async (words: string) => (await typed(words.split(' '), replyTo)).stdout
  t.match(await shown('wallet entries ply_1'), /1\.00 BRL +3\.00 BRL/)
  t.match(await shown('rounds show rnd_1'), /1\.00 BRL[^\n]*3\.00 BRL/)
  t.match(await shown('rounds list'), /2\.00 [^\n]* BRL/)
  t.notMatch(await shown('rounds list'), '2.00 BRL', 'which has a column of it')
  const set = 'wins limit 4.00 --provider Evolution --operator Azul --reason why'
  t.match(await shown(set), /Evolution +Casa Azul +4\.00 BRL/)
})

t.test('a limit that is taken away is no amount of the call', async (t) => {
  const input = { playerId, dailyDepositLimit: null, reason: 'asked for', seen: { dailyDepositLimit: '500.00' } }
  const list = { data: [{ service: 'players', operation: 'setDailyLimit', input }], nextCursor: null }
  const { stdout } = await typed(['proposals', 'list'], ({ id }) => named[id] ?? list)
  t.match(stdout, 'Ana ply_1 Casa Azul {"dailyDepositLimit":null,')
  t.notMatch(stdout, '500.00')
})

t.test('an error that carries text of others is as harmless', async (t) => {
  const rejection = new Rejection('VALIDATION_ERROR', { in: 'body', issues: [{ path: '/name', message: hostile }] })
  for (const json of [false, true]) {
    const { stderr } = await captured(() => printError(rejection, json))
    t.match(stderr, /VALIDATION_ERROR/)
    t.same(unsafeIn(stderr), [])
  }
  const { stderr } = await captured(() => printError(new Error(hostile.replaceAll('\n', '')), false))
  t.same(unsafeIn(stderr), [])
})

t.test('nothing is written but by output.ts', async (t) => {
  const source = new URL('../src/', import.meta.url)
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'))
  const writes = files.filter((name) =>
    /\bstd(out|err)\.write|\bconsole\.(log|info|warn|error|debug|dir|table)\b/.test(
      readFileSync(new URL(name, source), 'utf8'),
    ),
  )
  t.same(writes, ['output.ts'])
})

const id = 'wdr_01m80zdbj6fex93d62rkz6d91z'
const at = '2026-11-22T06:34:33.413Z'
const long = 'a destination that somebody wrote at such length that no terminal has room for it beside the rest'
interface Row {
  readonly id: string
  readonly at: string
  readonly destination: string
}
const shownRows: readonly Row[] = [
  { id, at, destination: long },
  { id, at, destination: 'short' },
]
const columns: readonly Column<Row>[] = ['id', 'destination', 'at']
const printed = async (width: number | undefined) =>
  (await captured(() => printTable(shownRows, columns, width))).stdout.split('\n')

t.test('a table fits the terminal: text is broken, ids and moments stay whole', async (t) => {
  for (const width of [130, 100, 80, 75]) {
    const lines = await printed(width)
    for (const line of lines) t.ok(line.length <= width, `${width}: ${line}`)
    t.equal(lines.filter((line) => line.includes(id)).length, 2, `${width}`)
    t.equal(lines.filter((line) => line.includes(at)).length, 2, `${width}`)
    const words = lines.slice(1).join(' ').split(/\s+/)
    for (const word of long.split(' ')) t.ok(words.includes(word), `${width}: ${word}`)
  }
})

t.test('where not even that fits, each row is a record', async (t) => {
  const record = (destination: string) => [
    `id           ${id}`,
    `destination  ${destination}`,
    `at           ${at}`,
    '',
  ]
  t.same(await printed(60), [...record(long), ...record('short')])
})

t.test('what fits is left as it is, and so is what goes into a file', async (t) => {
  t.same(columnWidths([['a', 'b']], 80), [])
  t.equal((await printed(undefined)).length, 4)
  t.match((await printed(undefined))[1], long)
})

t.test('arguments that make no sense are refused with a sentence', async (t) => {
  t.equal(integer('--limit')('12'), 12)
  t.throws(() => integer('--limit')('-1'), /--limit takes a whole number/)
  t.equal(moment('2026-03-02'), '2026-03-02T00:00:00.000Z')
  t.throws(() => moment('soon'), /not a date/)
  t.strictSame(['24h', '30m', '2d', '0'].map(hours), [24, 0.5, 48, 0])
  t.throws(() => hours('a day'), /such as 24h or 30m/)
  for (const [words, sentence] of [
    [['kyc', 'queue', '--env', 'live'], '--env takes sandbox, production, or all, not live'],
    [['players', 'status', 'ply_1', 'gone', '--reason', 'x'], /--status takes ativo, .* or restrito, not gone/],
    [['kyc', 'decide', 'ply_1', '--reason', 'x'], /--status <status> is required/],
    [['operators', 'suspend'], /--name <name> is required/],
  ] as const) {
    const { error, sent } = await typed(words)
    t.match(error?.message, sentence)
    t.same(sent, [])
  }
})
