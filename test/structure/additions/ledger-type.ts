import { type Addition, compiler } from './addition.ts'

const statuses = 'packages/contracts/src/statuses.ts'
const entries = 'packages/contracts/src/operations/wallet.ts'
const handler = 'services/wallet/src/operations/credit-bonus.ts'
const handlers = 'services/wallet/src/operations/index.ts'
const migrations = 'services/wallet/src/storage/migrations/index.ts'
const checks = 'services/reconciler/src/reconciliation/ledger-checks.ts'
const questions = 'services/reconciler/src/reconciliation/questions.ts'
const reconcileTest = 'services/reconciler/test/reconciliation/reconcile.test.ts'
const ownTest = 'services/wallet/test/operations/credit-bonus.test.ts'
const schemaTest = 'services/wallet/test/storage/schema.test.ts'
const permissionsTest = 'test/structure/generated-files.test.ts'
const namesTest = 'test/structure/names.test.ts'
const typesTest = 'packages/client/test/types.test.ts'
const readme = 'services/wallet/README.md'
const checksReadme = 'services/reconciler/README.md'

/** `BONUS`: from a new system account, `promotions`, to a player. */
export const ledgerType: Addition = {
  list: 'Add a ledger type',
  edits: [
    {
      row: 2,
      file: statuses,
      replace: /(ledgerTypes = \[[^\]]*)\]/,
      by: "$1, 'BONUS']",
    },
    {
      row: 2,
      file: statuses,
      after: "  REVERSAL: 'reversal',\n",
      insert: "  BONUS: 'promotion',\n",
    },
    {
      row: 2,
      file: statuses,
      after: "    REVERSAL: 'our team undid an earlier entry, with the opposite sign',\n",
      insert: "    BONUS: 'a credit: a promotion of yours',\n",
    },
    {
      row: 3,
      file: 'services/wallet/src/domain/posting.ts',
      replace: /(systemAccountKinds = \[[^\]]*)\]/,
      by: "$1, 'promotions']",
    },
    {
      row: 4,
      file: 'services/wallet/src/storage/migrations/0099-bonus.ts',
      create: `import type { Migration } from '@backoffice/service-runtime/migrations'

/** Nothing that was there can break the wider rules, so no row is read to check them. */
export const bonus: Migration = {
  name: '0099_bonus',
  sql: \`
alter table wallet.transfer drop constraint transfer_type_check,
  add constraint transfer_type_check check (type in ('DEPOSIT', 'WITHDRAWAL', 'ADJUSTMENT', 'REVERSAL', 'BONUS')) not valid;
alter table wallet.account drop constraint account_kind_check,
  add constraint account_kind_check check (kind in ('player', 'deposits', 'withdrawals', 'adjustments', 'promotions')) not valid;
\`,
}
`,
    },
    {
      row: 4,
      file: migrations,
      replace: /(migrations: readonly Migration\[\] = \[[^\]]*?),?(\s*)\]/,
      by: '$1, bonus$2]',
    },
    {
      row: 4,
      file: migrations,
      before: '\n/** In the order in which they are applied. */',
      insert: "import { bonus } from './0099-bonus.ts'\n",
    },
    {
      row: 5,
      file: entries,
      before: '  listEntries: team.query({\n',
      insert: `  /** Credits a player. Idempotent by reference, for ever; opens a missing account; is never refused. */
  creditBonus: internal.direct({
    callers: ['payments'],
    summary: 'Credit a bonus to a player',
    body: Type.Object({ playerId: Id, reference: Id, amount: Amount, effectiveAt: Timestamp }, closed),
    reply: Type.Object({ transferId: Id }, closed),
  }),

`,
    },
    {
      row: 5,
      file: handler,
      create: `import { operations, toMinorUnits } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { unexpected } from '../domain/unexpected.ts'
import type { Ledger } from '../steps/ledger.ts'

export const creditBonus = (ledger: Ledger) =>
  handle(operations.wallet.creditBonus, async ({ input, scope: { brandId, currency } }, { newId }) => {
    const { playerId, reference, amount, effectiveAt } = input
    const result = await ledger.post({
      kind: 'credit',
      brandId,
      playerId,
      currency,
      transferId: newId('trf'),
      reference,
      type: 'BONUS',
      counterparty: 'promotions',
      amount: toMinorUnits(amount),
      effectiveAt: new Date(effectiveAt),
    })
    if (result.outcome !== 'posted') throw unexpected(result, \`the bonus \${reference}\`)
    return { transferId: result.transferId }
  })
`,
    },
    {
      row: 5,
      file: handlers,
      after: "import { creditAccount } from './credit-account.ts'\n",
      insert: "import { creditBonus } from './credit-bonus.ts'\n",
    },
    {
      row: 5,
      file: handlers,
      after: '  creditAccount: creditAccount(ledger),\n',
      insert: '  creditBonus: creditBonus(ledger),\n',
    },
    {
      row: 6,
      file: schemaTest,
      after: '    DEPOSIT: [[deposits, player]],\n',
      insert: '    BONUS: [[adjustments, player]],\n',
    },
    {
      row: 6,
      file: ownTest,
      create: `import { operations } from '@backoffice/contracts'
import { payments } from '@backoffice/payments'
import { players } from '@backoffice/players'
import { migrate, newId } from '@backoffice/service-runtime/internal'
import { eventually, refusal, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { wallet } from '../../src/service.ts'

const bed = await testBed(t, { wallet })
// The tables that the ledger is compared with, as their services make them.
for (const { name: service, migrations } of [payments, players])
  await migrate({ service, migrations, url: bed.databaseUrl })

const { creditBonus, listTransactions } = operations.wallet
const { reconcileWallet } = operations.reconciler
const scope = bed.scope()
const credit = (playerId: string, reference: string, amount = '5.00') =>
  bed.rpc.call(creditBonus, { scope, input: { playerId, reference, amount, effectiveAt: '2026-03-02T12:00:00.000Z' } })

t.test('a bonus is credited once, under its reference', async (t) => {
  const playerId = newId('ply')
  const first = await credit(playerId, 'bonus-1')
  t.same(await credit(playerId, 'bonus-1'), first)
  const { data } = await bed.rpc.call(listTransactions, { scope, input: { playerId, limit: 10 } })
  t.match(data, [{ type: 'BONUS', amount: '5.00', reference: { type: 'promotion', id: 'bonus-1' } }])
  t.equal(data.length, 1)
})

t.test('one reference for two amounts is an error to look at', async (t) => {
  const playerId = newId('ply')
  await credit(playerId, 'bonus-2')
  t.equal(await refusal(credit(playerId, 'bonus-2', '6.00')), 'INTERNAL_ERROR')
})

t.test('the books agree', async (t) => {
  const alice = bed.team('alice')
  const { runId } = await alice.call(reconcileWallet, { input: {} })
  const run = () => alice.call(reconcileWallet, { input: { runId } })
  await eventually(async () => (await run()).state === 'done')
  const { report } = await run()
  t.same(report?.differences, [])
  t.match(report?.checks.find(({ check }) => check === 'bonuses'), { compared: 2, differences: 0 })
})
`,
    },
    {
      row: 7,
      file: checks,
      before: '/** A captured hold has the',
      insert: `/** A bonus is paid from the promotions of its brand. */
export const bonuses = sqlCheck('bonuses', {
  kind: 'transfer',
  of: ({ type }) => type === 'BONUS',
  differences: (keys) => sql\`
    select k.key, t.brand_id, t.id as subject, 'from promotions' as expected, 'from ' || a.kind as actual,
      'A bonus does not come from the promotions of its brand.' as explanation
    from \${keys} join wallet.transfer t on t.id = k.key join wallet.account a on a.id = t.debit_account
    where a.kind <> 'promotions'
  \`,
})

`,
    },
    {
      row: 7,
      file: checks,
      after: "  WITHDRAWAL: [['player', 'withdrawals']],\n",
      insert: "  BONUS: [['promotions', 'player']],\n",
    },
    { row: 7, file: questions, replace: 'import { corrections,', by: 'import { bonuses, corrections,' },
    { row: 7, file: questions, after: '  ...corrections,\n  ...reversals,\n', insert: '  ...bonuses,\n' },
    { row: 7, file: reconcileTest, after: "      'reversals',\n", insert: "      'bonuses',\n" },
    {
      row: 7,
      file: reconcileTest,
      before: "t.test('a confirmed deposit without its credit is a difference'",
      insert: `t.test('a bonus that is not paid from promotions is a difference', async (t) => {
  const { playerId, deposit, differences } = brand()
  await deposit('1.00')
  const adjustment = { playerId, amount: '3.00', reference: 'a', reason: 'gift' }
  const { transferId } = await alice.call(adjustWallet, { input: adjustment })
  await admin.query(
    \`insert into wallet.transfer (id, brand_id, reference, type, debit_account, credit_account, amount, outcome, effective_at, created_at)
     select $2, brand_id, $2, 'BONUS', debit_account, credit_account, amount, 'posted', now(), now() from wallet.transfer where id = $1\`,
    [transferId, 'trf_bonus'],
  )
  const found = (await differences()).filter(({ check }) => check === 'bonuses')
  t.match(found, [{ subject: 'trf_bonus', actual: 'from adjustments' }])
})

`,
    },
    {
      row: 9,
      file: readme,
      replace: '`withdrawals`, `adjustments`, per brand',
      by: '`withdrawals`, `adjustments`, `promotions`, per brand',
    },
    {
      row: 9,
      file: readme,
      before: "\nA ledger item's id",
      insert: "| `BONUS` | promotions → player | the promotion's |\n",
    },
    {
      row: 9,
      file: checksReadme,
      replace: /^\| `holds` +\| captured/,
      by: '| `bonuses` | each with the account that it comes from |\n$&',
    },
    {
      row: 9,
      file: 'CHANGELOG.md',
      after: '## Unreleased\n\n',
      insert: '### Changed\n\n- A ledger item may have the type `BONUS`.\n\n',
    },
  ],
  spared: [],
  tests: [
    'packages/contracts/test/operations.test.ts',
    permissionsTest,
    namesTest,
    typesTest,
    schemaTest,
    reconcileTest,
    ownTest,
  ],
  slips: [
    {
      row: 1,
      slip: 'done',
      toldBy: 'packages/documents/test/compatibility.test.ts',
      says: /listTransactions 200.*\.type has other values/,
    },
    { row: 4, slip: 'left out', toldBy: schemaTest, says: /transfer_type_check/ },
    { row: 3, slip: 'left out', toldBy: compiler, says: /credit-bonus\.ts.*'"promotions"'/ },
    {
      row: 2,
      slip: 'done wrong',
      file: statuses,
      replace: "  BONUS: 'promotion',\n",
      by: '',
      toldBy: compiler,
      says: /statuses\.ts(?=.*missing).*BONUS/,
    },
    {
      row: 5,
      slip: 'left out',
      file: entries,
      toldBy: compiler,
      says: /credit-bonus\.ts.*'creditBonus' does not exist/,
    },
    {
      row: 5,
      slip: 'left out',
      file: handler,
      toldBy: compiler,
      says: /operations\/index\.ts.*'\.\/credit-bonus\.ts'/,
    },
    {
      row: 5,
      slip: 'left out',
      file: handlers,
      toldBy: compiler,
      says: /operations\/index\.ts(?=.*missing).*creditBonus/,
    },
    { row: 6, slip: 'left out', file: schemaTest, toldBy: compiler, says: /schema\.test\.ts(?=.*missing).*BONUS/ },
    { row: 7, slip: 'left out', file: checks, toldBy: compiler, says: /ledger-checks\.ts(?=.*missing).*BONUS/ },
    {
      row: 8,
      slip: 'left out',
      file: 'deploy/nats/permissions.conf',
      toldBy: permissionsTest,
      says: /rpc\.wallet\.creditBonus/,
    },
    { row: 8, slip: 'left out', file: 'packages/client/src/api.ts', toldBy: typesTest, says: /npm run generate/ },
  ],
}
