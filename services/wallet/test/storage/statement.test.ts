import { type Db, readOver } from '@backoffice/service-runtime'
import { testBed } from '@backoffice/test-kit'
import t from 'tap'
import type { Posting } from '../../src/domain/posting.ts'
import { wallet } from '../../src/service.ts'
import { findBalanceOfPlayer, findBalances, lockPlayerAccounts } from '../../src/storage/accounts.ts'
import { readKnown } from '../../src/storage/known.ts'
import { readPages } from '../../src/storage/statement.ts'
import { writeChanges } from '../../src/storage/write-changes.ts'

const bed = await testBed(t, { wallet })
const now = new Date('2026-03-02T12:00:00.000Z')
const player = { brandId: 'brd_plan', playerId: 'ply_1', currency: 'BRL' }

// A ledger in which a wrong plan is a cheap guess: many players, and one of them with all of the entries.
const entriesOfOne = 60_000
const admin = bed.sql('admin')
await admin.query(`
  insert into wallet.account (brand_id, owner_id, kind, currency, genesis, head, created_at, updated_at)
    select 'brd_plan', 'ply_' || n, 'player', 'BRL', '', '', now(), now() from generate_series(1, 3000) n;
  insert into wallet.transfer (id, brand_id, reference, type, debit_account, credit_account, amount, outcome, effective_at, created_at)
    select 'trf_' || n, 'brd_plan', 'dep_' || n, 'DEPOSIT', 0, 1, 1, 'posted', now(), now() from generate_series(1, ${entriesOfOne}) n;
  insert into wallet.entry (account_id, seq, transfer_id, amount, balance, hash)
    select a.id, n, 'trf_' || n, 1, n, '' from generate_series(1, ${entriesOfOne}) n, wallet.account a where a.owner_id = 'ply_1';
  insert into wallet.entry (account_id, transfer_id, amount) select 0, id, -1 from wallet.transfer;
  insert into wallet.hold (brand_id, reference, account_id, amount, state, opened_at)
    select 'brd_plan', 'wdr_' || n, n % 3000, 1, 'open', now() from generate_series(1, 20000) n;
  analyze wallet.account, wallet.transfer, wallet.entry, wallet.hold;
`)

interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Cond'?: string
  readonly Filter?: string
  readonly 'Join Filter'?: string
  readonly Plans?: readonly PlanNode[]
}

/** The statements that a function of the storage sends, in order; each finds nothing. */
async function statementsOf(
  run: (db: Db) => Promise<unknown>,
): Promise<{ text: string; values: readonly unknown[] }[]> {
  const sent: { text: string; values: readonly unknown[] }[] = []
  const connection = {
    query: async (statement: { text: string; values: readonly unknown[] }) => {
      sent.push(statement)
      return { rows: [], fields: [] }
    },
  }
  await run(readOver(connection as never) as Db)
  return sent
}

/** How PostgreSQL runs a statement that is planned once for all values. */
async function genericPlan({ text, values }: { text: string; values: readonly unknown[] }): Promise<PlanNode> {
  const client = await bed.sql('wallet').connect()
  try {
    await client.query('set plan_cache_mode = force_generic_plan')
    await client.query(`prepare hot as ${text}`)
    const { rows } = await client.query(`explain (format json) execute hot (${values.map(() => 'null').join(', ')})`)
    await client.query('deallocate hot')
    return rows[0]['QUERY PLAN'][0].Plan
  } finally {
    client.release()
  }
}

const nodesOf = (node: PlanNode): PlanNode[] => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** What of a plan reads more rows than it needs. */
function wasteIn(plan: PlanNode): string[] {
  return nodesOf(plan).flatMap((node) => {
    const { 'Node Type': type, 'Relation Name': table } = node
    const waste = []
    if (/Index.* Scan$/.test(type) && node['Index Cond'] === undefined) waste.push(`${type} without a condition`)
    if (type === 'Seq Scan') waste.push(`Seq Scan of ${table}`)
    if (table !== undefined && node.Filter !== undefined) waste.push(`Filter on ${table}: ${node.Filter}`)
    if (node['Join Filter'] !== undefined) waste.push(`Join Filter: ${node['Join Filter']}`)
    return waste
  })
}

const transfer = { transferId: 'trf_new', reference: 'dep_new', amount: 1n, effectiveAt: now }
const postings: readonly Posting[] = [
  { ...player, ...transfer, kind: 'credit', type: 'REVERSAL', counterparty: 'deposits', reverses: 'trf_1' },
  { ...player, kind: 'capture', reference: 'wdr_1', transferId: 'trf_new2', effectiveAt: now },
]
const changes = {
  transfers: [
    {
      ...transfer,
      id: 'trf_new',
      brandId: player.brandId,
      type: 'DEPOSIT',
      debitAccount: 1n,
      creditAccount: 2n,
      outcome: 'posted',
      reverses: null,
      reason: null,
      createdAt: now,
    },
  ],
  entries: [],
  holds: [],
  accounts: [],
} as const

const hot: Readonly<Record<string, (db: Db) => Promise<unknown>>> = {
  'locking the accounts of a batch': (db) => lockPlayerAccounts(db, [player]),
  'reading what is known of a batch': (db) => readKnown(db, postings),
  'writing a batch': (db) => writeChanges(db, changes, now),
  'reading balances': (db) => findBalances(db, [player]),
  'finding a player for the team': (db) => findBalanceOfPlayer(db, player.playerId),
  'the first page of a statement': (db) => readPages(db, [{ ...player, before: null, limit: 51 }]),
  'a later page of a statement': (db) => readPages(db, [{ ...player, before: 30_000n, limit: 51 }]),
}

for (const [name, run] of Object.entries(hot))
  t.test(`hot statements use index conditions: ${name}`, async (t) => {
    const statements = await statementsOf(run)
    t.ok(statements.length > 0)
    for (const statement of statements) t.same(wasteIn(await genericPlan(statement)), [], statement.text)
  })

t.test('a statement that leaves its index is noticed', async (t) => {
  const unindexed = await statementsOf(
    (db) => db`
    select from entry where account_id = ${1n} and (${null}::bigint is null or seq < ${null}::bigint) and seq is not null
  `,
  )
  t.plan(1)
  for (const statement of unindexed) t.match(wasteIn(await genericPlan(statement)), [/^Filter on entry/])
})

t.test('pages of many calls are read together, each from its own place and as long as asked for', async (t) => {
  const { db } = bed.services.wallet
  const asked = [
    { ...player, before: 30_000n, limit: 2 },
    { ...player, before: null, limit: 3 },
    { ...player, playerId: 'ply_unknown', before: null, limit: 5 },
    { ...player, playerId: 'ply_2', before: 1n, limit: 5 },
    { ...player, before: null, limit: 1 },
  ]
  const pages = await readPages(db.reader, asked)
  t.same(
    pages.map((page) => page?.entries.map(({ playerId, seq }) => `${playerId} ${seq}`)),
    [['ply_1 29999', 'ply_1 29998'], ['ply_1 60000', 'ply_1 59999', 'ply_1 59998'], undefined, [], ['ply_1 60000']],
  )
})
