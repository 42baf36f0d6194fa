// proof: each column that a check reads, with a run for each.

import { randomBytes, randomUUID } from 'node:crypto'
import { operations, ReconciliationReport, type ServiceName } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { newId } from '@backoffice/process'
import { validate } from '@backoffice/rpc'
import { connectDatabase } from '@backoffice/service-runtime/testing'
import { testBed } from '@backoffice/test-kit'
import { noVault } from '@backoffice/vault'
import { wallet } from '@backoffice/wallet'
import t from 'tap'
import { Ledger } from '../../../wallet/src/ledger/ledger.ts'
import { aloneUpToAnything } from '../../../wallet/test/alone.ts'
import { reconciler } from '../../src/service.ts'
import { adjustment } from './brand.ts'
import { ended, runOf } from './run.ts'

// Whoever has the role of one service writes a row that is a difference, with the worst value that the type and the
// constraints of a column allow. It may neither end a run, nor hide itself, nor hide what is different beside it.

t.setTimeout(240_000)
const bed = await testBed(
  t,
  { players, wallet, payments, reconciler },
  {
    config: {
      wallet: aloneUpToAnything,
      reconciler: aloneUpToAnything,
      payments: { INTENT_SWEEP_EVERY_MS: 3_600_000 },
    },
  },
)
const admin = bed.sql('admin')
const scope = bed.scope({ environment: 'production' })
const team = { ...bed.issuer.team, aloneUpTo: '50.00', payAloneUpTo: '9.99', rollOutMs: 0 }
const { DATABASE_URL = '' } = bed.environment('wallet')
const db = await connectDatabase('wallet', { DATABASE_URL, DATABASE_POOL_MAX: 2 }, { vault: noVault })
t.teardown(() => db.close())
const ledger = new Ledger({ db })

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
  /** Columns that no difference depends on, and why. */
  readonly harmless?: Readonly<Record<string, string>>
  /** A full run writes it anew. */
  readonly isHealed?: boolean
}

const now = () => new Date().toISOString()
const bytes = () => `\\x${randomBytes(32).toString('hex')}`
const earlier = () => new Date(Date.now() - 3_600_000).toISOString()
const { brandId } = scope

const accountRow = (values: Row = {}): Row => ({
  ...{
    id: '',
    brand_id: brandId,
    owner_id: newId('ply'),
    kind: 'player',
    currency: 'BRL',
    posted: '0',
    held: '0',
    seq: '0',
  },
  ...{ genesis: '\\x00', head: '\\x00', created_at: now(), updated_at: now() },
  ...values,
})

let accounts = 1_000_000
/** An empty account, which is as it should be. */
async function account(values: Row = {}): Promise<{ readonly id: string; readonly owner: string }> {
  const row = accountRow({ id: String(++accounts), ...values })
  await insert('wallet.account', row)
  return { id: row.id ?? '', owner: row.owner_id ?? `account ${row.id}` }
}

const auditRow = (operation: string, input: object): Row => ({
  ...{ id: newId('aud'), at: now(), actor: 'alice', operation, operation_id: newId('opn'), subject: newId('wdr') },
  ...{ reason: 'a gift', input: JSON.stringify(input), outcome: 'done', session: null, tool: null, proof: null },
  ...{ changes: null, proposal: null },
})

const outboxRow = (kind: string, name: string, message: object, aggregate = newId('dep')): Row => ({
  ...{ id: newId(kind === 'event' ? 'evt' : 'cmd'), aggregate, aggregate_seq: '1', kind, name },
  ...{
    message: JSON.stringify(message),
    operation_id: newId('opn'),
    created_at: earlier(),
    leased_until: '2999-01-01',
  },
  ...{ attempts: '0', last_fault: null, environment: 'production' },
})

const eventOf = (id: string) => ({
  event: {
    type: 'deposit.confirmed',
    brandId,
    environment: 'production',
    data: { id, version: 2, status: 'confirmed' },
  },
})

/** A correction with its audit entry, as the wallet writes them, of a session and a proposal. */
async function correction(session: string, proposal: string): Promise<string> {
  const { owner } = await account()
  const input = { playerId: owner, amount: '1.00', reference: randomUUID(), reason: 'a gift' }
  await insert('wallet.audit_entry', {
    ...auditRow('adjustWallet', input),
    ...{ subject: owner, session, proposal, proof: proofOfSomething },
  })
  const outcome = await ledger.post({
    ...{ ...adjustment, amount: 100n, reference: input.reference, brandId, currency: 'BRL', playerId: owner },
    ...{ transferId: newId('trf'), effectiveAt: new Date() },
  })
  if (outcome.outcome !== 'posted') throw new Error(outcome.outcome)
  return outcome.transferId
}
const { proof: proofOfSomething } = await bed.issuer
  .signer('finance')
  .sign({ operation: 'wallet.adjustWallet', operationId: newId('opn'), input: {} })

const tables: readonly Table[] = [
  {
    name: 'wallet.transfer',
    forge: async () => {
      const [id, brand] = [newId('trf'), newId('brd')]
      const debit = await account({ kind: 'deposits', owner_id: null, brand_id: brand })
      const credit = await account({ brand_id: brand })
      const row = {
        ...{ id, brand_id: brand, reference: newId('dep'), type: 'DEPOSIT', debit_account: debit.id },
        ...{ credit_account: credit.id, amount: '100', outcome: 'posted', reverses: null, reason: null },
        ...{ effective_at: now(), created_at: now() },
      }
      return { row, names: [id] }
    },
  },
  {
    name: 'wallet.entry',
    forge: async () => {
      const [transfer, { id, owner }] = [newId('trf'), await account()]
      const row = { account_id: id, seq: '1', transfer_id: transfer, amount: '100', balance: '100', hash: bytes() }
      return { row, names: [transfer, owner] }
    },
  },
  {
    name: 'wallet.entry',
    forge: async () => {
      const transfer = newId('trf')
      const { id } = await account({ kind: 'deposits', owner_id: null, brand_id: newId('brd') })
      return { row: { account_id: id, transfer_id: transfer, amount: '100' }, names: [transfer] }
    },
  },
  {
    name: 'wallet.account',
    forge: async () => {
      const row = accountRow({ id: String(++accounts), posted: '100' })
      return { row, names: [row.owner_id ?? '', `account ${row.id}`] }
    },
  },
  {
    name: 'wallet.hold',
    forge: async () => {
      const [reference, { id, owner }] = [newId('wdr'), await account()]
      const row = {
        ...{ brand_id: brandId, reference, account_id: id, amount: '100', state: 'open', transfer_id: null },
        ...{ opened_at: now(), closed_at: null },
      }
      return { row, names: [reference, owner] }
    },
  },
  {
    name: 'wallet.system_checkpoint',
    forge: async () => {
      const { id } = await account({ kind: 'deposits', owner_id: null, brand_id: newId('brd') })
      return {
        row: { account_id: id, below: '3', balance: '100', entries: '1', taken_at: now() },
        names: [`account ${id}`],
      }
    },
  },
  {
    name: 'reconciler.account_checkpoint',
    forge: async () => {
      const { id, owner } = await account()
      return { row: { account_id: id, entries: '5', balance: '100', hash: bytes(), below: '3' }, names: [owner] }
    },
    harmless: { below: 'a checkpoint of transactions to come is of a run that has not ended' },
    isHealed: true,
  },
  {
    name: 'wallet.audit_entry',
    forge: async () => {
      const row = auditRow('adjustWallet', { reference: newId('op'), amount: '1.00' })
      return { row, names: [row.id ?? '', row.operation_id ?? ''] }
    },
    harmless: { operation: 'another operation corrects nothing', outcome: 'what was refused did nothing' },
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
        ...{ proof: proofOfSomething, decided_session: newId('ses'), decided_proof: proofOfSomething },
      }
      return { row, names: [await correction(newId('ses'), id)] }
    },
  },
  {
    name: 'wallet.outbox',
    forge: async () => {
      const row = outboxRow('command', 'payments.something', { scope: { brandId } })
      return { row, names: [row.aggregate ?? '', row.name ?? ''] }
    },
  },
  {
    name: 'payments.deposit',
    forge: async () => {
      const id = newId('dep')
      const row = {
        ...{ id, brand_id: brandId, operator_id: scope.operatorId, environment: 'production', time_zone: 'UTC' },
        ...{ player_id: newId('ply'), external_reference: id, amount: '100', currency: 'BRL', method: 'pix' },
        ...{
          status: 'confirmed',
          failure_reason: null,
          version: '2',
          created_at: now(),
          confirmed_at: now(),
          failed_at: null,
        },
      }
      return { row, names: [id] }
    },
  },
  {
    name: 'payments.depositor',
    forge: async () => {
      const id = newId('dep')
      const player = newId('ply')
      await insert('payments.deposit', {
        ...{ id, brand_id: brandId, operator_id: scope.operatorId, environment: 'production', time_zone: 'UTC' },
        ...{ player_id: player, external_reference: id, amount: '100', currency: 'BRL', method: 'pix' },
        ...{ status: 'pending', version: '1', created_at: now() },
      })
      return { row: { player_id: player, day: '2026-01-01', day_total: '7' }, names: [player, id] }
    },
  },
  {
    name: 'payments.withdrawal',
    forge: async () => {
      const id = newId('wdr')
      const row = {
        ...{ id, operation_id: id, brand_id: brandId, operator_id: scope.operatorId, environment: 'production' },
        ...{
          time_zone: 'UTC',
          player_id: newId('ply'),
          amount: '100',
          currency: 'BRL',
          method: 'pix',
          destination: 'x',
        },
        ...{
          status: 'under_review',
          reason: null,
          version: '1',
          created_at: now(),
          updated_at: now(),
          reviewed_at: null,
        },
        ...{ paid_at: null, approved_by: null, dropped_at: null, sealed_destination: null },
      }
      return { row, names: [id] }
    },
  },
  {
    name: 'payments.status_transition',
    forge: async () => {
      const id = newId('dep')
      const row = {
        ...{ record_id: id, version: '1', from_status: null, to_status: 'confirmed', at: now(), by_kind: 'operator' },
        ...{ by_name: 'x', reason: null, operation_id: newId('opn') },
      }
      return { row, names: [id] }
    },
  },
  {
    name: 'payments.ended_command',
    forge: async () => {
      const { id } = await deposit('pending')
      const row = {
        ...{ command_id: newId('cmd'), deposit_id: id, proposed_by: 'alice', proposal_operation_id: newId('opn') },
        ...{ ended_by: 'bob', ended_at: now(), operation_id: newId('opn') },
      }
      return { row, names: [id] }
    },
    harmless: { deposit_id: 'of no deposit it explains nothing' },
  },
  {
    name: 'payments.audit_entry',
    forge: async () => {
      const row = auditRow('decideWithdrawal', { decision: 'approve' })
      return { row, names: [row.id ?? '', row.subject ?? ''] }
    },
    harmless: { operation: 'another operation decides nothing', outcome: 'what was refused did nothing' },
  },
  {
    name: 'payments.outbox',
    forge: async () => {
      const row = outboxRow('command', 'wallet.something', { scope: { brandId } })
      return { row, names: [row.aggregate ?? '', row.name ?? ''] }
    },
  },
  {
    name: 'payments.outbox',
    forge: async () => {
      const id = newId('dep')
      return { row: outboxRow('event', 'deposit.confirmed', eventOf(id), id), names: [id] }
    },
    harmless: { name: 'an event says it once more' },
  },
  {
    name: 'payments.published_event',
    forge: async () => {
      const [record, id] = [newId('dep'), newId('evt')]
      const row = { published_at: now(), id, message: JSON.stringify(eventOf(record)) }
      return { row, names: [record, id] }
    },
  },
  {
    name: 'players.player',
    forge: async () => {
      const id = newId('ply')
      const row = {
        ...{ id, operator_id: scope.operatorId, brand_id: brandId, environment: 'production', currency: 'BRL' },
        ...{ time_zone: 'UTC', external_id: id, name: 'x', email: 'x', cpf: 'x', birth_date: '1990-01-01' },
        ...{ status: 'ativo', kyc_status: 'nao_iniciado', kyc_version: '0', created_at: now() },
      }
      return { row, names: [id] }
    },
  },
  {
    name: 'players.outbox',
    forge: async () => {
      const row = outboxRow('command', 'wallet.something', { scope: { brandId } })
      return { row, names: [row.aggregate ?? '', row.name ?? ''] }
    },
    harmless: { kind: 'an event of a player is not about money' },
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
      const { player_id: subject = '', at = '' } = decided
      const row = { ...auditRow('decideKyc', { playerId: subject, status: 'aprovado' }), at, subject }
      return { row, names: [subject ?? ''] }
    },
  },
]

/** A decision on a new player's identity that nobody signed. */
async function approval(): Promise<Row> {
  const input = { externalId: randomUUID(), ...person }
  const { id } = await bed.rpc.call(operations.players.registerPlayer, { scope, input })
  return {
    ...{ id: String(++changes), player_id: id, at: now(), actor: 'alice', field: 'kycStatus' },
    ...{ previous: 'pendente', next: 'aprovado', reason: 'x' },
  }
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
const serviceOf = (table: string) => table.split('.')[0] as ServiceName

/** @returns where the row is; null when it was refused */
async function insert(table: string, row: Row): Promise<{ readonly table: string; readonly ctid: string } | null> {
  const columns = Object.entries(row)
  const casts = columns.map((_, index) => `$${index + 1}`)
  const { rows } = await bed.sql(serviceOf(table)).query(
    `insert into ${table} (${columns.map(([name]) => `"${name}"`).join(', ')}) overriding system value
    values (${casts.join(', ')}) returning ctid::text, tableoid::text as table`,
    columns.map(([, value]) => value),
  )
  return rows[0] ?? null
}

interface Written extends Forged {
  readonly what: string
  readonly isHarmless: boolean
  readonly isHealed: boolean
  readonly place: { readonly table: string; readonly ctid: string }
}

/** The table's forged row with each of the worst values, as far as they can be written. */
async function writeWorst({ name: table, forge, harmless = {}, isHealed = false }: Table): Promise<Written[]> {
  const written: Written[] = []
  for (const { name, type } of readable.filter((column) => column.table === table)) {
    const count = valuesFor(type, (await forge()).row[name]).length
    for (let index = 0; index < count; index++) {
      const { row, names } = await forge()
      const value = valuesFor(type, row[name])[index] ?? null
      const bad = { ...row, [name]: value }
      // A document may call the record by it.
      const number = '9'.repeat(200)
      const place = await insert(table, bad).catch((error) => {
        // Constraints, triggers and rights are part of what is shown.
        if (!/^(22|23|42501|P0001|428C9|54)/.test(error.code)) throw error
        return null
      })
      if (place === null) continue
      const what = `${table}.${name} = ${String(value).slice(0, 40)}`
      written.push({
        row: bad,
        names: [...names, value ?? '', number],
        what,
        place,
        ...{ isHarmless: name in harmless, isHealed },
      })
    }
  }
  return written
}

async function deposit(status: 'confirmed' | 'pending'): Promise<{ readonly id: string; readonly playerId: string }> {
  const input = { amount: '100.00', currency: 'BRL', method: 'pix', playerId, externalReference: randomUUID() }
  const { id } = await bed.rpc.call(operations.payments.createDeposit, { scope, input })
  if (status === 'confirmed')
    await bed.rpc.call(operations.payments.confirmDeposit, { scope, input: { depositId: id } })
  return { id, playerId }
}

const person = { name: 'Ana Souza', email: 'ana@example.com', cpf: '529.982.247-25', birthDate: '1990-05-17' }
const { id: playerId } = await bed.rpc.call(operations.players.registerPlayer, {
  scope,
  input: { externalId: 'ana', ...person },
})
await deposit('confirmed')

const run = async (isFull: boolean) => runOf(bed, { isFull, team })
await bed.sql('wallet').query('update account set posted = posted + 100 where owner_id = $1', [playerId])

/** What no single difference may hide: the balance that is 1.00 too high. */
const isReal = ({ check, subject }: ReconciliationReport['differences'][number]) =>
  check === 'balances' && subject === playerId

const isNamed = ({ differences }: ReconciliationReport, { names }: Written) =>
  differences.some(({ subject, expected, actual }) =>
    names.some((name) =>
      name === '' ? subject === '' : [subject, expected, actual].some((text) => text.includes(name.slice(0, 200))),
    ),
  )

async function remove(rows: readonly Written[]): Promise<void> {
  const client = await admin.connect()
  const { rows: tablesOf } = await client.query<{ oid: string; name: string }>(
    "select oid::text, oid::regclass::text as name from pg_class where relkind = 'r'",
  )
  const names = new Map(tablesOf.map(({ oid, name }) => [oid, name]))
  await client.query("set session_replication_role = 'replica'")
  for (const { place } of rows)
    await client.query(`delete from ${names.get(place.table)} where ctid = $1::text::tid`, [place.ctid])
  await client.query("set session_replication_role = 'origin'")
  client.release()
}

/** What the role may read and no check reads: what the services keep of calls, messages and migrations. */
const unread = [
  ...['inbox', 'migration', 'operation', 'set_aside_message', 'stream_seen', 'published_event_other'],
  ...[
    'reconciler.outbox',
    'reconciler.audit_entry',
    'reconciler.published_event',
    'reconciliation',
    'checkpoint',
    'moment',
  ],
  ...['brand', 'depositor', 'team_session', 'team_proposal'],
]

t.test('every table that the reconciler may read is tried', async (t) => {
  const tried = new Set(tables.map(({ name }) => name))
  const others = new Set(readable.map(({ table }) => table).filter((table) => !tried.has(table)))
  t.same(
    [...others].filter((table) => !unread.includes(table) && !unread.includes(table.split('.')[1] ?? '')),
    [],
  )
})

for (const table of tables)
  t.test(`the worst values of ${table.name} end no run and hide nothing`, async (t) => {
    const written = await writeWorst(table)
    // While another test's transaction is open, a run leaves what was entered since to the next one.
    await ended(admin)
    const runs = [await run(false), await run(true), await run(false)]
    for (const [index, report] of runs.entries()) {
      t.equal(validate(ReconciliationReport, report), null, 'the report can be sent')
      t.ok(report.differences.some(isReal), 'the real difference is named')
      if (index === 0) continue
      const looked = written.filter(({ isHarmless, isHealed }) => !isHarmless && !(isHealed && index === 2))
      const hidden = looked.filter((one) => !isNamed(report, one))
      t.same(
        hidden.map(({ what }) => what),
        [],
        `${report.kind}: each row is named`,
      )
    }
    await remove(written)
  })

t.test('a checkpoint of the last run that cannot be read is named, and the run looks at everything', async (t) => {
  const good = (await admin.query('select * from reconciler.checkpoint')).rows[0]
  const open = (listed: unknown) => JSON.stringify({ listed, unlisted: [] })
  const difference = { check: 'balances', brandId: null, subject: 'x', expected: 'x', actual: 'x', explanation: 'x' }
  const documents = [
    ...[
      'null',
      '[]',
      '7',
      '{}',
      '{"listed": 7, "unlisted": 7}',
      open([7]),
      open([{ difference, kind: 'head', key: '{' }]),
    ],
    ...[
      open([{ difference, kind: 'account', key: 'x' }]),
      open([{ difference: { ...difference, check: 'x' }, key: 'x' }]),
    ],
  ]
  const bad = [
    ...['infinity', '-infinity', '294276-12-31'].flatMap((time) => [{ at: time }, { full_at: time }]),
    ...documents.map((open) => ({ open })),
  ]
  for (const values of bad) {
    const [[column, value]] = Object.entries(values) as [[string, string]]
    await bed.sql('reconciler').query(`update checkpoint set ${column} = $1`, [value])
    const report = await run(false)
    t.ok(report.differences.some(isReal), `the real difference is named beside ${column} = ${value}`)
    t.ok(
      report.differences.some(({ check, actual }) => check === 'checkpoints' && /cannot be read/.test(actual)),
      'the checkpoint is',
    )
    t.equal(report.kind, 'full')
  }
  t.ok(good)
})
