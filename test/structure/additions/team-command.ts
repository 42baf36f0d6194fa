import { type Addition, compiler } from './addition.ts'

const handler = 'services/payments/src/deposits/flag-deposit.ts'
const handlers = 'services/payments/src/operations.ts'
const ownTest = 'services/payments/test/deposits/flag-deposit.test.ts'
const namesTest = 'test/structure/names.test.ts'
const tableTest = 'packages/team/test/table.test.ts'
const programTest = 'packages/team/test/program.test.ts'
const failuresTest = 'test/failures/commands.test.ts'

/** `deposits flag dep_… --reason …`, which writes to the table that was added before. */
export const teamCommand: Addition = {
  list: 'Add a team command',
  edits: [
    {
      row: 1,
      file: 'packages/contracts/src/operations/payments.ts',
      before: '  showWithdrawal: team.query({\n',
      insert: `  flagDeposit: team.command({
    roles: ['finance'],
    summary: 'Mark a deposit as one to look at again',
    body: Type.Object({ depositId: Id, reason: Reason }, closed),
    reply: Type.Object({ id: Id, depositId: Id, flaggedAt: Timestamp, actor: Type.String(), reason: Reason }, closed),
    rejects: ['DEPOSIT_NOT_FOUND'],
  }),

`,
    },
    {
      row: 2,
      file: handler,
      create: `import { operations, Rejection } from '@backoffice/contracts'
import { handle } from '@backoffice/service-runtime'
import { flagPrefix, insertDepositFlags } from './deposit-flags.ts'
import { findDeposits } from './records.ts'

export const flagDeposit = handle(operations.payments.flagDeposit, {
  async execute({ input: { depositId, reason }, actor }, { db, now, newId }) {
    const [deposit] = await findDeposits(db, [depositId])
    if (deposit === undefined) throw new Rejection('DEPOSIT_NOT_FOUND')
    const flag = { id: newId(flagPrefix), depositId, flaggedAt: now, actor, reason }
    await insertDepositFlags(db, [flag])
    return { ...flag, flaggedAt: now.toISOString() }
  },
})
`,
    },
    {
      row: 3,
      file: handlers,
      before: 'import { createDeposit, ',
      insert: "import { flagDeposit } from './deposits/flag-deposit.ts'\n",
    },
    { row: 3, file: handlers, before: '  withdrawalQueue,\n  countWithdrawalQueue,\n', insert: '  flagDeposit,\n' },
    {
      row: 4,
      file: ownTest,
      create: `import { operations } from '@backoffice/contracts'
import { refusal } from '@backoffice/test-kit'
import t from 'tap'
import { moneyPath } from '../money-path.ts'

const path = await moneyPath(t)
const flag = (depositId: string) =>
  path.bed.team('alice').call(operations.payments.flagDeposit, { input: { depositId, reason: 'called the bank' } })

t.test('a flag is kept with its person and reason, and so is its audit entry', async (t) => {
  const { id } = await path.createDeposit(await path.newPlayer({ kyc: false }))
  const flagged = { actor: 'alice', reason: 'called the bank' }
  t.match(await flag(id), { depositId: id, ...flagged })
  t.match(await path.rows('select * from deposit_flag'), [{ deposit_id: id, ...flagged }])
  const audited = await path.rows('select actor, operation, subject, reason from audit_entry')
  t.match(audited, [{ operation: 'flagDeposit', subject: id, ...flagged }])
})

t.test('an unknown deposit is DEPOSIT_NOT_FOUND', async (t) => {
  t.equal(await refusal(flag('dep_unknown')), 'DEPOSIT_NOT_FOUND')
})
`,
    },
    {
      row: 5,
      file: 'packages/team/src/commands/deposits.ts',
      replace: /^\]$/,
      by: "  row({ path: 'deposits flag', operation: operations.payments.flagDeposit, arguments: ['depositId'] }),\n]",
    },
    { row: 7, file: 'packages/team/README.md', after: '| `deposits list\\|show', insert: '\\|flag' },
    {
      row: 9,
      file: 'test/failures/team-commands.ts',
      before: '  {\n    operation: wallet.adjustWallet,\n',
      insert: `  {
    operation: payments.flagDeposit,
    prepare: async (world) => {
      const depositId = await newDeposit(world)
      return (key) => world.team(payments.flagDeposit, { depositId, reason }, key)
    },
  },
`,
    },
  ],
  spared: [6, 8],
  tests: [
    'packages/contracts/test/operations.test.ts',
    'test/structure/generated-files.test.ts',
    namesTest,
    tableTest,
    programTest,
    failuresTest,
    ownTest,
  ],
  slips: [
    {
      row: 1,
      slip: 'done wrong',
      file: 'packages/contracts/src/operations/payments.ts',
      replace: 'body: Type.Object({ depositId: Id, reason: Reason }, closed)',
      by: 'body: Type.Object({ depositId: Id }, closed)',
      toldBy: programTest,
      says: /deposits flag/,
    },
    { row: 2, slip: 'left out', toldBy: compiler, says: /operations\.ts.* '\.\/deposits\/flag-deposit\.ts'/ },
    {
      row: 2,
      slip: 'done wrong',
      file: handler,
      replace: 'export const flagDeposit = ',
      by: 'export const flagged = ',
      toldBy: compiler,
      says: /operations\.ts.*flagDeposit/,
    },
    { row: 3, slip: 'left out', toldBy: compiler, says: /operations\.ts(?=.*missing).*flagDeposit/ },
    { row: 5, slip: 'left out', toldBy: tableTest, says: /payments\.flagDeposit/ },
    { row: 7, slip: 'left out', toldBy: tableTest, says: /deposits flag/ },
    { row: 9, slip: 'left out', toldBy: failuresTest, says: /payments\.flagDeposit/ },
  ],
}
