// proof: each column that a check reads.
// In a process of its own: its ledger, which others would share, stays false.

import { randomBytes, randomUUID } from 'node:crypto'
import { operations, ReconciliationReport, type ServiceName } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { validate } from '@backoffice/rpc'
import type { Test } from 'tap'
import t from 'tap'
import { findCheckpoint } from '../../src/storage/reconciliations.ts'
import { ended } from '../runs/run.ts'
import { adjustment, as, Brand, bed, behindItsBack, run } from './brand.ts'

// Whoever has the role of one service writes a row that is a difference, with the worst value that the type and the
// constraints of a column allow. It may neither end a run, nor hide itself, nor hide what is different beside it.

const admin = bed.sql('admin')
const brand = await Brand.funded()
const { scope, playerId } = brand
const { brandId } = scope
await brand.approved()
await brand.request('1.00')
await brand.bet('bet', '1.00')
const correcting = { playerId, amount: '1.00', reference: randomUUID(), reason: 'a gift' }
await bed.team('alice').call(operations.wallet.adjustWallet, { input: correcting })

/** A row as PostgreSQL reads it. */
type Row = Readonly<Record<string, string | null>>

interface Forged {
  readonly row: Row
  /** What a difference may call the row by, whatever one of its columns holds. */
  readonly names: readonly string[]
}

interface Table {
  readonly name: string
  /** A row that is a difference, without any bad value. */
  readonly forge: () => Promise<Forged>
  /** Columns, and values of columns, that no difference depends on, and why. */
  readonly harmless?: Readonly<Record<string, string>>
  /** A full run writes it anew. */
  readonly isHealed?: boolean
}

const now = () => new Date().toISOString()
const bytes = () => `\\x${randomBytes(32).toString('hex')}`

const samples = new Map<string, Row>()
/** A row as a service has written one of the kind, with other values. It does not write of which transaction it is. */
async function like(table: string, which: string, values: Row): Promise<Row> {
  const query = `select json_object_agg(c.key, c.value) as row
    from (select * from ${table} where ${which} limit 1) t, json_each_text(to_json(t)) c where c.key <> 'xid'`
  const sample: Row = samples.get(query) ?? (await admin.query(query)).rows[0].row
  samples.set(query, sample)
  return { ...sample, ...values }
}

let accounts = 1_000_000
const accountRow = (values: Row = {}) =>
  like('wallet.account', "kind = 'player'", {
    ...{ id: String(++accounts), owner_id: newId('ply'), posted: '0', held: '0', seq: '0' },
    ...{ genesis: '\\x00', head: '\\x00', ...values },
  })
/** An empty account, which is as it should be. */
async function account(values: Row = {}): Promise<{ readonly id: string; readonly owner: string }> {
  const row = await accountRow(values)
  await insert('wallet.account', row)
  return { id: row.id ?? '', owner: row.owner_id ?? `account ${row.id}` }
}
const systemAccount = () => account({ kind: 'deposits', owner_id: null, brand_id: newId('brd') })

const outboxRow = (kind: string, name: string, message: object, aggregate = newId('dep')): Row => ({
  ...{ id: newId(kind === 'event' ? 'evt' : 'cmd'), aggregate, aggregate_seq: '1', kind, name },
  ...{ message: JSON.stringify(message), operation_id: newId('opn'), attempts: '0', last_fault: null },
  ...{ created_at: new Date(Date.now() - 3_600_000).toISOString(), leased_until: '2999-01-01' },
  environment: 'production',
})

const eventOf = (id: string) => {
  const data = { id, version: 2, status: 'confirmed' }
  return { event: { type: 'deposit.confirmed', brandId, environment: 'production', data } }
}

const auditOf = (input: object, values: Row) =>
  like('wallet.audit_entry', "operation = 'adjustWallet'", {
    ...{ id: newId('aud'), at: now(), operation_id: newId('opn'), input: JSON.stringify(input), ...values },
  })

/** A correction with its audit entry, as the wallet writes them, of a session and a proposal. */
async function correction(session: string, proposal: string): Promise<string> {
  const corrected = Object.assign(new Brand(), { playerId: newId('ply') })
  const { playerId } = corrected
  await account({ brand_id: corrected.scope.brandId, owner_id: playerId })
  const { reference, reason } = adjustment
  const input = { playerId, amount: '1.00', reference, reason }
  await insert('wallet.audit_entry', await auditOf(input, { subject: playerId, reason, session, proposal }))
  return corrected.post({ ...adjustment, amount: 100n })
}
const { proof } = await bed.issuer
  .signer('finance')
  .sign({ operation: 'wallet.adjustWallet', operationId: newId('opn'), input: {} })

const ofBrand = `brand_id = '${brandId}'`
const depositRow = (id: string, values: Row) =>
  like('payments.deposit', ofBrand, { id, external_reference: id, player_id: newId('ply'), ...values })

/** A bet that moved nothing. */
const playRow = async (values: Row = {}) => {
  const [id, account_id] = [newId('pla'), (await account()).id]
  return like('wallet.play', "kind = 'bet' and outcome = 'posted'", {
    id,
    account_id,
    transaction_id: id,
    round_id: null,
    ...values,
  })
}
const sumsOf = (providerId: string) => {
  const amounts = ['bets', 'wins', 'rollbacks', 'jackpots', 'promotions', 'ggr'].map((name) => [name, '1.00'])
  return JSON.stringify([{ providerId, currency: 'BRL', rounds: 1, ...Object.fromEntries(amounts) }])
}

const notOfMoney = 'another operation corrects and decides nothing'
const refused = 'what was refused did nothing'
const ofNoAccount = 'a checkpoint of no account counts for nothing'

const tables: readonly Table[] = [
  {
    name: 'wallet.transfer',
    forge: async () => {
      const [id, brand_id] = [newId('trf'), newId('brd')]
      const debit_account = (await account({ kind: 'deposits', owner_id: null, brand_id })).id
      const credit_account = (await account({ brand_id })).id
      const values = { id, brand_id, reference: newId('dep'), debit_account, credit_account }
      return { row: await like('wallet.transfer', "type = 'DEPOSIT'", values), names: [id] }
    },
  },
  {
    name: 'wallet.entry',
    forge: async () => {
      const [transfer_id, { id, owner }] = [newId('trf'), await account()]
      const row = { account_id: id, seq: '1', transfer_id, amount: '100', balance: '100', hash: bytes() }
      return { row, names: [transfer_id, owner] }
    },
  },
  {
    name: 'wallet.entry',
    forge: async () => {
      const [transfer_id, { id: account_id }] = [newId('trf'), await systemAccount()]
      return { row: { account_id, transfer_id, amount: '100' }, names: [transfer_id] }
    },
  },
  {
    name: 'wallet.account',
    forge: async () => {
      const row = await accountRow({ posted: '100' })
      return { row, names: [row.owner_id ?? '', `account ${row.id}`] }
    },
    harmless: { 'posted = 0': 'that is what it has' },
  },
  {
    name: 'wallet.hold',
    forge: async () => {
      const [reference, { id, owner }] = [newId('wdr'), await account()]
      const row = await like('wallet.hold', "state = 'open'", { reference, account_id: id })
      return { row, names: [reference, owner] }
    },
  },
  {
    name: 'wallet.system_checkpoint',
    forge: async () => {
      const { id, owner } = await systemAccount()
      return { row: { account_id: id, below: '3', balance: '100', entries: '1', taken_at: now() }, names: [owner] }
    },
    harmless: { account_id: ofNoAccount },
  },
  {
    name: 'reconciler.account_checkpoint',
    forge: async () => {
      const { id, owner } = await account()
      return { row: { account_id: id, entries: '5', balance: '100', hash: bytes(), below: '3' }, names: [owner] }
    },
    harmless: {
      below: 'a checkpoint of transactions to come is of a run that has not ended',
      account_id: ofNoAccount,
    },
    isHealed: true,
  },
  {
    name: 'wallet.audit_entry',
    forge: async () => {
      const row = await auditOf({ reference: newId('op'), amount: '1.00' }, { subject: newId('wdr') })
      return { row, names: [row.id ?? '', row.operation_id ?? ''] }
    },
    harmless: { operation: notOfMoney, outcome: refused },
  },
  {
    name: 'wallet.team_session',
    forge: async () => {
      const session = newId('ses')
      const row = { session, person: 'alice', kind: 'person', id_token: null, first_used_at: now(), anchor: null }
      return { row, names: [await correction(session, newId('prp'))] }
    },
  },
  {
    name: 'wallet.team_proposal',
    forge: async () => {
      const id = newId('prp')
      const row = {
        ...{ id, operation: 'adjustWallet', fingerprint: id, input: '{}', reason: 'a gift', proposed_by: 'alice' },
        ...{ proposed_at: now(), expires_at: now(), operation_id: newId('opn'), state: 'approved', decided_by: 'bob' },
        ...{ decided_at: now(), decided_operation_id: newId('opn'), decision_reason: 'a gift', session: newId('ses') },
        ...{ proof, decided_session: newId('ses'), decided_proof: proof },
      }
      return { row, names: [await correction(newId('ses'), id)] }
    },
  },
  ...['wallet', 'payments', 'players'].map(
    (service): Table => ({
      name: `${service}.outbox`,
      forge: async () => {
        const row = outboxRow('command', 'another.something', { scope: { brandId } })
        return { row, names: [row.aggregate ?? '', row.name ?? ''] }
      },
      ...(service === 'players' && { harmless: { kind: 'an event of a player is not about money' } }),
    }),
  ),
  {
    name: 'payments.outbox',
    forge: async () => {
      const id = newId('dep')
      return { row: outboxRow('event', 'deposit.confirmed', eventOf(id), id), names: [id] }
    },
    harmless: { name: 'an event says it once more' },
  },
  {
    name: 'payments.deposit',
    forge: async () => {
      const id = newId('dep')
      return { row: await depositRow(id, {}), names: [id] }
    },
  },
  {
    name: 'payments.depositor',
    forge: async () => {
      const [id, player_id] = [newId('dep'), newId('ply')]
      await insert('payments.deposit', await depositRow(id, { player_id, status: 'pending', confirmed_at: null }))
      return { row: { player_id, day: '2026-01-01', day_total: '7' }, names: [player_id, id] }
    },
  },
  {
    name: 'payments.withdrawal',
    forge: async () => {
      const id = newId('wdr')
      const values = { id, operation_id: id, player_id: newId('ply') }
      return { row: await like('payments.withdrawal', "status = 'under_review'", values), names: [id] }
    },
  },
  {
    name: 'payments.status_transition',
    forge: async () => {
      const id = newId('dep')
      const values = { record_id: id, version: '1', from_status: null, operation_id: newId('opn') }
      return { row: await like('payments.status_transition', "to_status = 'confirmed'", values), names: [id] }
    },
  },
  {
    name: 'payments.ended_command',
    forge: async () => {
      const deposit_id = await brand.deposit('1.00')
      const row = {
        ...{ command_id: newId('cmd'), deposit_id, proposed_by: 'alice', proposal_operation_id: newId('opn') },
        ...{ ended_by: 'bob', ended_at: now(), operation_id: newId('opn') },
      }
      return { row, names: [deposit_id] }
    },
    harmless: { deposit_id: 'of no deposit it explains nothing' },
  },
  {
    name: 'payments.audit_entry',
    forge: async () => {
      const [id, subject] = [newId('aud'), newId('wdr')]
      const values = { id, at: now(), operation_id: newId('opn'), subject }
      const row = await like('payments.audit_entry', "operation = 'decideWithdrawal'", values)
      return { row, names: [id, subject] }
    },
    harmless: { operation: notOfMoney, outcome: refused },
  },
  {
    name: 'payments.published_event',
    forge: async () => {
      const [record, id] = [newId('dep'), newId('evt')]
      return { row: { published_at: now(), id, message: JSON.stringify(eventOf(record)) }, names: [record, id] }
    },
  },
  {
    name: 'wallet.play',
    forge: async () => {
      const row = await playRow()
      return { row, names: [row.id ?? ''] }
    },
  },
  {
    name: 'wallet.round',
    forge: async () => {
      const id = newId('rnd')
      const values = { id, provider_round_id: id, account_id: (await account()).id }
      return { row: await like('wallet.round', 'true', values), names: [id] }
    },
  },
  {
    name: 'wallet.play_day',
    forge: async () => {
      const [brand_id, provider] = [newId('brd'), newId('prv')]
      return {
        row: { brand_id, day: '2026-01-01', sums: sumsOf(provider), closed_at: now() },
        names: [brand_id, provider],
      }
    },
    harmless: { 'sums = []': 'of a brand that nobody knows there is no play' },
  },
  {
    name: 'wallet.published_event',
    forge: async () => {
      const [brandId, provider] = [newId('brd'), newId('prv')]
      const data = { day: '2026-01-01', providers: JSON.parse(sumsOf(provider)) }
      const message = JSON.stringify({ event: { type: 'play.day_closed', brandId, data } })
      return { row: { published_at: now(), id: newId('evt'), message }, names: [brandId, provider] }
    },
    harmless: { message: 'another message tells of no day' },
  },
  {
    name: 'players.game_session',
    forge: async () => {
      const id = newId('ses')
      const play = await playRow({ session_id: id })
      await insert('wallet.play', play)
      return { row: await like('players.game_session', "mode = 'real'", { id }), names: [play.id ?? ''] }
    },
  },
  {
    name: 'players.player',
    forge: async () => {
      const id = newId('ply')
      return {
        row: await like('players.player', ofBrand, { id, external_id: id, kyc_status: 'nao_iniciado' }),
        names: [id],
      }
    },
  },
  {
    name: 'players.player_change',
    forge: async () => {
      const row = await approval()
      return { row, names: [row.player_id ?? ''] }
    },
    harmless: { field: 'of another field it decides nothing' },
  },
  {
    name: 'players.audit_entry',
    forge: async () => {
      const decided = await approval()
      await insert('players.player_change', decided)
      const { player_id: subject = null, operation_id = null } = decided
      const input = { playerId: subject, status: 'aprovado' }
      return {
        row: await auditOf(input, { operation: 'decideKyc', operation_id, subject, session: null, proof: null }),
        names: [subject ?? ''],
      }
    },
  },
]

/** A decision on a new player's identity that nobody signed. */
async function approval(): Promise<Row> {
  const person = { name: 'Ana Souza', email: 'ana@example.com', cpf: '529.982.247-25', birthDate: '1990-05-17' }
  const input = { externalId: randomUUID(), ...person }
  const { id } = await bed.rpc.call(operations.players.registerPlayer, { scope, input })
  const values = { id: String(++changes), player_id: id, at: now(), actor: 'alice', operation_id: newId('opn') }
  return like('players.player_change', "field = 'kycStatus'", values)
}
let changes = 1_000_000

const odd = `x y "'\\ {}%s \u0001 é😀 ${'z'.repeat(300)}`
/** A text with every escape that JSON allows and PostgreSQL cannot make a text of. */
const oddJson = '{"a": "\\u0000", "b": "\\ud800"}'

/** The worst that a type may hold. What a constraint refuses is refused. */
const worstOf: Readonly<Record<string, readonly string[]>> = {
  text: ['', odd],
  character: ['', 'é'],
  'character(3)': ['', 'é'],
  bigint: ['9223372036854775807', '-9223372036854775808', '0'],
  integer: ['2147483647', '-2147483648', '0'],
  'numeric(38,0)': ['NaN', '9'.repeat(38), `-${'9'.repeat(38)}`],
  xid8: ['18446744073709551615', '0'],
  bytea: ['', '\\xff'],
  boolean: ['true', 'false'],
  date: ['infinity', '-infinity'],
  'timestamp with time zone': ['infinity', '-infinity', '294276-12-31 23:59:59.999999+00', '4714-11-24 00:00:00+00 BC'],
  json: ['null', '[]', '"x"', '7', '{"event": null}', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
}

/** Every text within a JSON document, one after another, as no text can be. */
function withOddTexts(document: string): readonly string[] {
  const texts = [...document.matchAll(/:"[^"]*"/g)]
  const at = (index: number, length: number, text: string) =>
    `${document.slice(0, index)}${text}${document.slice(index + length)}`
  return texts.flatMap(({ index, 0: { length } }) => [
    at(index, length, ':"\\u0000"'),
    at(index, length, ':"\\ud800"'),
    at(index, length, `:${'9'.repeat(400)}`),
    at(index, length, `:${oddJson}`),
  ])
}

/** The worst values of a type, some of which are made from a good one. */
function valuesFor(type: string, good = '{"a":"b"}' as string | null): readonly (string | null)[] {
  const worst = worstOf[type]
  if (worst === undefined) throw new Error(`nothing is known of the type ${type}`)
  return [...worst, ...(type === 'json' ? withOddTexts(good ?? '{"a":"b"}') : []), null]
}

interface Column {
  readonly table: string
  readonly name: string
  readonly type: string
}

/** What the reconciler's role may read, by the catalogue: tables, and columns that views show it. */
const { rows: readable } = await admin.query<Column>(`
  with recursive shown (view) as (
    select oid from pg_class where relkind = 'v' and relnamespace::regnamespace::text in ('wallet', 'payments', 'players')
      and has_table_privilege('backoffice_reconciler', oid, 'select')
    union
    select d.refobjid from shown join pg_rewrite r on r.ev_class = shown.view
    join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
    join pg_class c on c.oid = d.refobjid and c.relkind = 'v' where d.refclassid = 'pg_class'::regclass
  ), selected as (
    select d.refobjid as oid, d.refobjsubid as attnum from shown join pg_rewrite r on r.ev_class = shown.view
    join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid and d.refclassid = 'pg_class'::regclass
  )
  select n.nspname || '.' || c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type
  from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('wallet', 'payments', 'players', 'reconciler') and c.relkind in ('r', 'p') and not c.relispartition
    and a.attnum > 0 and not a.attisdropped and (has_column_privilege('backoffice_reconciler', c.oid, a.attnum, 'select')
      or (c.oid, a.attnum) in (select oid, attnum from selected))
  order by n.nspname, c.relname, a.attnum
`)

/** @returns where the row is, which may be in a partition */
async function insert(table: string, row: Row): Promise<{ readonly table: string; readonly ctid: string }> {
  const names = Object.keys(row)
  const { rows } = await bed.sql(table.split('.')[0] as ServiceName).query(
    `insert into ${table} (${names.map((name) => `"${name}"`)}) overriding system value
    values (${names.map((_, index) => `$${index + 1}`)}) returning ctid::text,
      (select format('%s.%s', relnamespace::regnamespace, relname) from pg_class c where c.oid = ${table}.tableoid) as table`,
    Object.values(row),
  )
  return rows[0]
}

interface Written {
  readonly what: string
  readonly names: readonly string[]
  readonly isHarmless: boolean
  readonly isHealed: boolean
  readonly place: Awaited<ReturnType<typeof insert>>
}

/** Each table's forged row with each of the worst values, as far as they can be written. */
async function* writeWorst(): AsyncGenerator<Written> {
  for (const { name: table, forge, harmless = {}, isHealed = false } of tables) {
    const good = (await forge()).row
    for (const { name, type } of readable.filter((column) => column.table === table))
      for (const index of valuesFor(type, good[name]).keys()) {
        const { row, names } = await forge()
        const value = valuesFor(type, row[name])[index] ?? null
        const place = await insert(table, { ...row, [name]: value }).catch((error) => {
          // Constraints, triggers and rights are part of what is shown.
          if (!/^(22|23|42501|P0001|428C9|54)/.test(error.code)) throw error
          return null
        })
        if (place === null) continue
        const what = `${table}.${name} = ${String(value).slice(0, 40)}`
        const isHarmless = name in harmless || `${name} = ${value}` in harmless
        // A document may call the record by the number.
        const called = [...names, value ?? '', '9'.repeat(200)].filter((one) => one === '' || one.length >= 8)
        yield { what, place, names: called, isHarmless, isHealed }
      }
  }
}

await as('wallet', 'update account set posted = posted + 100 where owner_id = $1', [playerId])

/** What no single difference may hide: the balance that is 1.00 too high. */
const isReal = ({ check, subject }: ReconciliationReport['differences'][number]) =>
  check === 'balances' && subject === playerId

const isNamed = ({ differences }: ReconciliationReport, { names }: Written) =>
  differences.some(({ subject, expected, actual }) =>
    names.some((name) =>
      name === '' ? subject === '' : [subject, expected, actual].some((text) => text.includes(name.slice(0, 200))),
    ),
  )

/** What the role may read and no check reads: what the services keep of calls, messages and migrations. */
const unread = [
  ...['inbox', 'migration', 'operation', 'set_aside_message', 'stream_seen', 'published_event_other', 'brand'],
  // Compared with what people signed, each by itself: forged-calls.test.ts forges it.
  ...['document_source', 'game_provider', 'win_limit', 'held_win'],
  ...['depositor', 'team_session', 'team_proposal', 'reconciliation', 'checkpoint', 'moment', 'proof'],
  ...['outbox', 'audit_entry', 'published_event'].map((table) => `reconciler.${table}`),
]

t.test('every table that the reconciler may read is tried', async (t) => {
  const others = new Set(readable.map(({ table }) => table)).difference(new Set(tables.map(({ name }) => name)))
  const forgotten = [...others].filter(
    (table) => !unread.includes(table) && !unread.includes(table.split('.')[1] ?? ''),
  )
  t.same(forgotten, [])
})

/** So many rows at once that a report has room for what is found of each. */
const rowsAtOnce = 200

async function judge(t: Test, written: readonly Written[]): Promise<void> {
  // While another test's transaction is open, a run leaves what was entered since to the next one.
  await ended(admin)
  const runs = [await run(false), await run(true), await run(false)]
  for (const [index, report] of runs.entries()) {
    t.equal(validate(ReconciliationReport, report), null, 'the report can be sent')
    t.ok(report.differences.some(isReal), 'the real difference is named')
    if (index === 0) continue
    const expected = written.filter(({ isHarmless, isHealed }) => !isHarmless && !(isHealed && index === 2))
    const hidden = expected.filter((one) => !isNamed(report, one)).map(({ what }) => what)
    t.same(hidden, [], `${report.kind}: each row is named`)
  }
  // A row that a relay has leased since stands elsewhere, and stays: no other row's finding depends on it.
  const deleteFrom = (table: string) => `with gone as (delete from ${table} where ctid = $1::text::tid returning 1)`
  for (const { place, isHealed } of written)
    if (!isHealed) await behindItsBack(`${deleteFrom(place.table)} select count(*) from gone`, [place.ctid])
}

t.test('the worst values end no run and hide nothing', async (t) => {
  let written: Written[] = []
  for await (const one of writeWorst()) {
    written.push(one)
    if (written.length < rowsAtOnce) continue
    await judge(t, written)
    written = []
  }
  await judge(t, written)
})

t.test('a checkpoint of the last run that cannot be read is named, and the run looks at everything', async (t) => {
  const open = (listed: unknown) => JSON.stringify({ listed, unlisted: [] })
  const difference = { check: 'balances', brandId: null, subject: 'x', expected: 'x', actual: 'x', explanation: 'x' }
  const documents = [
    ...['null', '[]', '7', '{}', '{"listed": 7, "unlisted": 7}', open([7])],
    ...['head', 'account'].map((kind) => open([{ difference, kind, key: '{' }])),
    open([{ difference: { ...difference, check: 'x' }, key: 'x' }]),
  ]
  const times = ['infinity', '-infinity', '294276-12-31']
  const bad = Object.entries({ at: times, full_at: times, open: documents })
  for (const [column, value] of bad.flatMap(([column, values]) => values.map((value) => [column, value]))) {
    await bed.sql('reconciler').query(`update checkpoint set ${column} = $1`, [value])
    let isNamed = false
    const found = await findCheckpoint(bed.services.reconciler.db, () => {
      isNamed = true
    })
    t.same([found, isNamed], [undefined, true], `${column} = ${value}`)
  }
  const report = await run(false)
  t.equal(report.kind, 'full')
  t.ok(report.differences.some(isReal), 'the real difference is named')
  t.ok(
    report.differences.some(({ check, actual }) => check === 'checkpoints' && /cannot be read/.test(actual)),
    'the checkpoint is',
  )
})
