import { type Addition, compiler } from './addition.ts'

// Far enough to stay the last, whatever is added in the meantime.
const migration = 'services/payments/src/storage/migrations/0099-deposit-flags.ts'
const migrations = 'services/payments/src/storage/migrations/index.ts'
const service = 'services/payments/src/service.ts'
const ids = 'packages/contracts/src/ids.ts'
const flags = 'services/payments/src/deposits/deposit-flags.ts'
const plansTest = 'test/plans/hot-statements.test.ts: every statement of the source'
const migrationsTest = 'test/structure/migrations.test.ts'

/** `deposit_flag`, which keeps what the team remarked on a deposit for a while. */
export const table: Addition = {
  list: 'Add a table or a column',
  edits: [
    {
      row: 1,
      file: migration,
      create: `import type { Migration } from '@backoffice/service-runtime/migrations'

/** Deposits that the team wants to look at again. */
export const depositFlags: Migration = {
  name: '0099_deposit_flags',
  sql: \`
create table payments.deposit_flag (
  id text collate "C" primary key,
  deposit_id text collate "C" not null,
  flagged_at timestamptz not null,
  actor text not null,
  reason text not null
);
create index deposit_flag_by_age on payments.deposit_flag (flagged_at);
\`,
}
`,
    },
    {
      row: 2,
      file: migrations,
      before: '\n/** In the order in which they are applied. */',
      insert: "import { depositFlags } from './0099-deposit-flags.ts'\n",
    },
    {
      row: 2,
      file: migrations,
      replace: /(migrations: readonly Migration\[\] = \[[^\]]*?),?(\s*)\]/,
      by: '$1, depositFlags$2]',
    },
    {
      row: 3,
      file: service,
      before: 'export const payments = defineService({',
      insert: `/** By then somebody has looked. */
export const depositFlags: Retention = { table: 'deposit_flag', column: 'flagged_at', keepMs: 90 * dayMs }

`,
    },
    { row: 3, file: service, replace: 'retentions: [', by: 'retentions: [depositFlags, ' },
    { row: 5, file: ids, after: "  dep: 'deposit',\n", insert: "  dfl: 'flag on a deposit',\n" },
    {
      row: 6,
      file: flags,
      create: `// Records.

import type { IdPrefix } from '@backoffice/contracts'
import { type Db, rowsOf } from '@backoffice/service-runtime'

export const flagPrefix: IdPrefix = 'dfl'

export interface DepositFlag {
  readonly id: string
  readonly depositId: string
  readonly flaggedAt: Date
  readonly actor: string
  readonly reason: string
}

const columns = 'id text, deposit_id text, flagged_at timestamptz, actor text, reason text'

export async function insertDepositFlags(db: Db, flags: readonly DepositFlag[]): Promise<void> {
  await db\`insert into deposit_flag \${rowsOf('f', flags, columns)}\`
}
`,
    },
    {
      row: 7,
      file: 'test/plans/reads-much.ts',
      replace: /(export const unsent:[^\n]*\n)/,
      by: "$1  { part: 'insert into deposit_flag', reason: 'no operation sends it yet' },\n",
    },
    {
      row: 8,
      file: 'services/payments/README.md',
      replace: 'deposits, withdrawals and their history never.',
      by: 'flags on deposits after 90 days; deposits, withdrawals and their history never.',
    },
  ],
  spared: [4, 9],
  tests: [migrationsTest, 'test/rollout/schema-changes.test.ts'],
  slips: [
    {
      row: 1,
      slip: 'done wrong',
      file: migration,
      replace: "name: '0099_deposit_flags'",
      by: "name: '0099_flags'",
      toldBy: migrationsTest,
      says: /0099_flags/,
    },
    { row: 2, slip: 'left out', toldBy: migrationsTest, says: /0099_deposit_flags/ },
    { row: 3, slip: 'left out', toldBy: migrationsTest, says: /payments\.deposit_flag/ },
    { row: 5, slip: 'left out', toldBy: compiler, says: /deposit-flags\.ts.*"dfl"/ },
    {
      row: 6,
      slip: 'done wrong',
      file: flags,
      replace: 'actor text, reason text',
      by: 'actor text, motive text',
      toldBy: compiler,
      says: /motive/,
    },
    { row: 7, slip: 'left out', toldBy: plansTest, says: /insert into deposit_flag/ },
  ],
}
