import { residentServices, type ServiceName, serviceNames } from '@backoffice/contracts'
import { testBed } from '@backoffice/test-kit'
import type pg from 'pg'
import t from 'tap'
import { services } from '../src/schema.ts'

// What each role may do to each table, tried with real statements, and held against what is written down here.

const migrated = Object.fromEntries(services.map((service) => [service.name, service]))
const bed = await testBed(t, migrated as never, { startServices: false })
const admin = bed.sql('admin')
const games = bed.sql('games')
const roles = { ...Object.fromEntries(serviceNames.map((name) => [name, bed.sql(name)])), games }

type Verb = 'select' | 'insert' | 'update' | 'delete' | 'truncate'
const everything: readonly Verb[] = ['select', 'insert', 'update', 'delete']
const recorded: readonly Verb[] = ['select', 'insert', 'update']
const appendOnly: readonly Verb[] = ['select', 'insert']

/** Tables of which a service may do less to its own than `everything`. */
const lessOfOwn: Readonly<Record<string, readonly Verb[]>> = {
  ...Object.fromEntries(serviceNames.map((name) => [`${name}.audit_entry`, appendOnly])),
  ...Object.fromEntries(serviceNames.map((name) => [`${name}.team_session`, appendOnly])),
  ...Object.fromEntries(serviceNames.map((name) => [`${name}.team_proposal`, recorded])),
  ...Object.fromEntries(serviceNames.map((name) => [`${name}.migration`, ['select']])),
  ...Object.fromEntries(residentServices.map((name) => [`${name}.brand`, appendOnly])),
  'gateway.operator': recorded,
  'gateway.brand': recorded,
  'gateway.credential': recorded,
  'gateway.provider': recorded,
  'gateway.provider_key': recorded,
  'gateway.provider_brand': recorded,
  'payments.payment_file': recorded,
  'players.player': recorded,
  'players.kyc_submission': appendOnly,
  'players.player_change': appendOnly,
  'payments.deposit': recorded,
  // An intent that came to nothing is purged. A trigger keeps all others.
  'payments.withdrawal': everything,
  'payments.status_transition': appendOnly,
  'payments.ended_command': appendOnly,
  'wallet.account': recorded,
  'wallet.hold': recorded,
  'wallet.transfer': appendOnly,
  'wallet.entry': appendOnly,
  'wallet.play': appendOnly,
  'wallet.play_day': appendOnly,
  'wallet.round': recorded,
  'wallet.held_win': recorded,
  'reconciler.moment': appendOnly,
}

interface Table {
  readonly name: string
  readonly schema: ServiceName
  readonly columns: readonly { readonly name: string; readonly type: string; readonly identity: boolean }[]
}

const { rows: tables } = await admin.query<Table>(
  `select t.schemaname || '.' || t.tablename as name, t.schemaname as schema,
     json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null),
       'identity', a.attidentity <> '') order by a.attnum) as columns
   from pg_tables t
   join pg_attribute a on a.attrelid = (t.schemaname || '.' || t.tablename)::regclass and a.attnum > 0 and not a.attisdropped
   where t.schemaname = any($1) group by 1, 2 order by 1`,
  [serviceNames],
)

/** PostgreSQL denies the right, or a trigger of ours refuses. Anything else, such as a constraint, comes after both. */
const refusals = new Set(['42501', 'P0001'])

/** Whether a statement is allowed. Whatever it does is taken back. */
async function mayRun(pool: pg.Pool, statement: string, others = new Set<string>()): Promise<boolean> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query(statement)
    return true
  } catch (error) {
    const code = String((error as { code?: string }).code)
    return !refusals.has(code) && !others.has(code)
  } finally {
    await client.query('rollback')
    client.release()
  }
}

const statements = ({ name, columns }: Table): Readonly<Record<Verb, string>> => {
  const column = columns.find(({ identity }) => !identity)?.name
  return {
    select: `select from ${name} where false`,
    insert: `insert into ${name} default values`,
    update: `update ${name} set ${column} = default where false`,
    delete: `delete from ${name} where false`,
    truncate: `truncate ${name}`,
  }
}

async function verbsOf(pool: pg.Pool, table: Table): Promise<string> {
  const allowed: string[] = []
  for (const [verb, statement] of Object.entries(statements(table))) {
    if (await mayRun(pool, statement)) allowed.push(verb)
  }
  return allowed.join(' ')
}

/** Every service looks there whether somebody of the team may still act. */
const ended = ['gateway.ended_session']
/** What others see of a table itself. Of all else they see views. */
const shown: Readonly<Record<string, readonly string[]>> = {
  ...{ players: ended, wallet: ended, payments: ended },
  reconciler: [
    ...ended,
    ...['account', 'transfer', 'entry', 'hold', 'system_checkpoint', 'brand', 'play', 'round'].map(
      (name) => `wallet.${name}`,
    ),
  ],
  webhooks: [...ended, 'payments.published_event', 'players.published_event', 'wallet.published_event'],
  games: ['players.game', 'players.game_session'],
}

interface View {
  readonly name: string
  readonly schema: string
  readonly columns: readonly string[]
}
const { rows: views } = await admin.query<View>(
  `select c.oid::regclass::text as name, c.relnamespace::regnamespace::text as schema, array_agg(a.attname::text order by a.attname) as columns
   from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
   where c.relkind = 'v' and c.relnamespace::regnamespace::text = any($1) group by c.oid order by 1`,
  [serviceNames],
)

t.test('each role may do to each table what is written here, and nothing else', async (t) => {
  t.same(
    Object.keys(lessOfOwn).filter((name) => !tables.some((table) => table.name === name)),
    [],
    'each table that is named exists',
  )
  await Promise.all(
    Object.entries(roles).map(async ([role, pool]) => {
      for (const table of tables) {
        const own = role === table.schema ? (lessOfOwn[table.name] ?? everything) : []
        const read = shown[role]?.includes(table.name) === true
        t.equal(await verbsOf(pool, table), (read ? ['select'] : own).join(' '), `${role} on ${table.name}`)
      }
    }),
  )
})

/** What PostgreSQL says of a view, or of a column of one, that nobody at all could write through. */
const notUpdatable = new Set(['55000', '0A000'])

/** Who reads a view that is not made for reconciliation. */
const readers: Readonly<Record<string, string>> = {
  'wallet.open_hold': 'payments',
  'players.sandbox_wallet_session': 'games',
}

t.test('a view is read by those for whom it is made, and nobody writes through it', async (t) => {
  t.ok(views.length > 0)
  for (const { name, schema, columns } of views)
    for (const [role, pool] of Object.entries(roles)) {
      const reader = readers[name] ?? 'reconciler'
      const isTheirs = role === (name.endsWith('.audit_evidence') ? schema : reader)
      t.equal(await mayRun(pool, `select from ${name} where false`), isTheirs, `${role} reads ${name}`)
      for (const statement of [
        `update ${name} set ${columns[0]} = ${columns[0]} where false`,
        `delete from ${name} where false`,
        `insert into ${name} (${columns[0]}) select null where false`,
      ])
        t.notOk(await mayRun(pool, statement, notUpdatable), `${role}: ${statement}`)
    }
})

t.test(
  'of players, reconciliation sees whose they are and who decided about them, and nothing else of a person',
  async (t) => {
    const seen = views.filter(({ schema }) => schema === 'players')
    const columnsOf = (name: string) => seen.find((view) => view.name === name)?.columns
    t.same(columnsOf('players.reconcilable_player'), [
      ...['brand_id', 'environment', 'id', 'kyc_status', 'self_excluded_from', 'self_excluded_until', 'status'],
    ])
    t.same(columnsOf('players.reconcilable_kyc_change'), ['actor', 'at', 'id', 'next', 'operation_id', 'player_id'])
    const ofChange = ['actor', 'at', 'field', 'id', 'next', 'operation_id', 'player_id', 'previous']
    t.same(columnsOf('players.reconcilable_status_change'), ofChange)
    t.same(columnsOf('players.reconcilable_outbox'), [...['aggregate', 'brand_id', 'created_at', 'id', 'kind', 'name']])
  },
)

t.test('of the events of others, webhooks reads which were published, and when', async (t) => {
  for (const service of ['payments', 'players'] as const) {
    const { columns = [] } = tables.find(({ name }) => name === `${service}.published_event`) ?? {}
    const found: string[] = []
    for (const { name } of columns)
      if (await mayRun(bed.sql('webhooks'), `select ${name} from ${service}.published_event`)) found.push(name)
    t.same(found, ['published_at', 'id'])
  }
})

t.test('the public games find a demonstration by its token and change its balance, and no more', async (t) => {
  const permitted = async (name: string, statement: (column: string) => string) => {
    const { columns = [] } = tables.find((table) => table.name === name) ?? {}
    const found: string[] = []
    for (const column of columns) if (await mayRun(games, statement(column.name))) found.push(column.name)
    return found.sort()
  }
  const sessions = 'players.game_session'
  const readFrom = (name: string) => permitted(name, (column) => `select ${column} from ${name}`)
  t.same(await readFrom('players.game'), ['id', 'name', 'provider'])
  t.same(await readFrom(sessions), ['demo_balance', 'expires_at', 'game_id', 'token_sha256'])
  const change = (column: string) => `update ${sessions} set ${column} = default where false`
  t.same(await permitted(sessions, change), ['demo_balance'])
})

/** A row of each kind of record. */
const records = `
insert into gateway.operator (id, name, rate_limit_per_minute, allowed_addresses, created_at) values ('op_1', 'One', 600, '{}', now());
insert into gateway.brand values ('brd_1', 'op_1', 'production', 'One', 'BRL', 'America/Sao_Paulo');
insert into gateway.credential values ('crd_1', 'brd_1', 'bk_live_1', 'sealed', now(), now());
insert into players.player (id, operator_id, brand_id, environment, currency, time_zone, external_id, name, email, cpf,
  birth_date, status, kyc_status, kyc_version, created_at)
  values ('ply_1', 'op_1', 'brd_1', 'production', 'BRL', 'America/Sao_Paulo', 'user-1', 'Ana', 'a@b.co', '52998224725',
  '1990-05-17', 'ativo', 'aprovado', 1, now());
insert into players.kyc_submission values ('kyc_1', 'ply_1', 'rg', 'doc-1', now());
insert into payments.deposit (id, brand_id, operator_id, environment, time_zone, player_id, external_reference, amount,
  currency, method, status, version, created_at)
  values ('dep_1', 'brd_1', 'op_1', 'production', 'America/Sao_Paulo', 'ply_1', 'pay-1', 100, 'BRL', 'pix', 'pending', 1, now());
insert into payments.withdrawal (id, operation_id, brand_id, operator_id, environment, time_zone, player_id, amount,
  currency, method, destination, status, version, created_at, updated_at, approved_by)
  values ('wdr_1', 'opn_1', 'brd_1', 'op_1', 'production', 'America/Sao_Paulo', 'ply_1', 100, 'BRL', 'pix', 'ana',
  'approved', 2, now(), now(), 'alice');
`

/** What may be changed of a record. Everything else is kept as it was written. */
const changeable: Readonly<Record<string, readonly string[]>> = {
  'gateway.operator': [
    'name',
    'rate_limit_per_minute',
    'allowed_addresses',
    'suspended_at',
    'replay_protection',
    'stored_mebibytes_per_day',
    'stored_rows_per_day',
  ],
  'gateway.brand': ['name'],
  'gateway.credential': ['sealed_secret'],
  'players.player': [
    ...[
      'time_zone',
      'external_id',
      'name',
      'email',
      'cpf',
      'phone',
      'sealed_identity',
      'cpf_digest',
      'email_digest',
      'phone_digest',
      'birth_date',
      'status',
      'kyc_status',
      'kyc_version',
    ],
    ...['kyc_decided_at', 'kyc_expires_at', 'kyc_reason', 'self_excluded_from', 'self_excluded_until'],
    ...['daily_deposit_limit', 'pending_limit', 'pending_limit_from'],
  ],
  'players.kyc_submission': [],
  'payments.deposit': ['time_zone', 'status', 'failure_reason', 'version', 'created_at', 'confirmed_at', 'failed_at'],
  'payments.withdrawal': [
    ...['time_zone', 'status', 'reason', 'version', 'created_at', 'updated_at', 'reviewed_at', 'paid_at', 'dropped_at'],
    ...['destination_digest', 'payment_file'],
  ],
}

/** Another value of a column, whatever it is now. */
function another({ name, type }: { readonly name: string; readonly type: string }): string {
  if (type === 'bigint' || type === 'integer') return `coalesce(${name}, 0) + 1`
  if (type === 'timestamp with time zone') return `coalesce(${name}, now()) + interval '1 day'`
  if (type === 'date') return `${name} + 1`
  if (type === 'text[]') return `array['x']`
  return `'XYZ'`
}

t.test(
  'who, how much and to where is kept as it was written, for the services and for the owner of the tables',
  async (t) => {
    await admin.query(records)
    for (const [name, expected] of Object.entries(changeable)) {
      const table = tables.find((candidate) => candidate.name === name) as Table
      for (const who of [table.schema, 'admin'] as const) {
        const pool = bed.sql(who)
        const changed: string[] = []
        for (const column of table.columns)
          if (await mayRun(pool, `update ${name} set ${column.name} = ${another(column)}`)) changed.push(column.name)
        t.same(changed.sort(), [...expected].sort(), `${who} changes ${name}`)
        t.notOk(await mayRun(pool, `delete from ${name}`), `${who} deletes of ${name}`)
        t.notOk(await mayRun(pool, `truncate ${name} cascade`), `${who} empties ${name}`)
      }
    }
  },
)

t.test('a reference to a document is forgotten, and nothing else is put in its place', async (t) => {
  const refer = (to: string) => `update players.kyc_submission set reference = '${to}'`
  t.ok(await mayRun(bed.sql('players'), refer('anonymised')))
  t.notOk(await mayRun(bed.sql('players'), refer('doc-2')))
})

t.test('a destination is sealed or forgotten, and nothing else is put in its place', async (t) => {
  const payments = bed.sql('payments')
  const end = "update payments.withdrawal set status = 'paid', paid_at = now() where id = 'wdr_1';"
  const set = (columns: string) => `update payments.withdrawal set ${columns} where id = 'wdr_1';`
  const sealed = set("destination = '', sealed_destination = 'first.ciphertext'")
  const forgotten = set("destination = 'anonymised', sealed_destination = null")
  t.ok(await mayRun(payments, sealed), 'sealed')
  t.ok(await mayRun(payments, sealed + set("sealed_destination = 'second.ciphertext'")), 'sealed under another key')
  t.ok(await mayRun(payments, end + forgotten), 'forgotten when it is paid')
  t.ok(await mayRun(payments, end + sealed + forgotten), 'forgotten when it is sealed')
  t.notOk(await mayRun(payments, forgotten), 'not forgotten while it has to be paid')
  t.notOk(await mayRun(payments, set("destination = 'bob'")), 'not changed')
  t.notOk(await mayRun(payments, set("destination = ''")), 'not emptied')
  t.notOk(await mayRun(payments, sealed + set("destination = 'bob', sealed_destination = null")), 'not made readable')
  t.notOk(await mayRun(payments, end + set("destination = 'bob'")), 'not changed when it is paid')
})

t.test('an approval is written once', async (t) => {
  const approve = (from: string) =>
    `update payments.withdrawal set approved_by = ${from}; update payments.withdrawal set approved_by = 'bob'`
  await admin.query(
    'insert into payments.withdrawal select (jsonb_populate_record(w, \'{"id": "wdr_2", "operation_id": "opn_2"}\')).* from payments.withdrawal w where id = \'wdr_1\'',
  )
  t.notOk(await mayRun(bed.sql('payments'), approve('null')))
  await admin.query(
    "set session_replication_role = 'replica'; update payments.withdrawal set approved_by = null; set session_replication_role = 'origin'",
  )
  t.ok(await mayRun(bed.sql('payments'), "update payments.withdrawal set approved_by = 'bob'"))
  t.notOk(await mayRun(bed.sql('payments'), approve("'alice'")))
})
