import { type Addition, compiler } from './addition.ts'

const events = 'packages/contracts/src/events.ts'
const step = 'services/payments/src/deposits/settle.ts'
const commandTest = 'services/payments/test/deposits/settle-deposit.test.ts'
// The others of that file take their time, and say nothing of this.
const ownTest = `${commandTest}: a failed deposit credits nothing`
const exampleTest = 'packages/contracts/test/operations.test.ts'
const brokerTest = 'packages/contracts/test/broker.test.ts'
const namesTest = 'test/structure/names.test.ts'
const permissionsTest = 'test/structure/generated-files.test.ts'
const documentsTest = 'test/structure/documents.test.ts'
const typesTest = 'packages/client/test/types.test.ts'

/** `deposit.failed`, which failing a deposit sends. */
export const event: Addition = {
  list: 'Add an event',
  edits: [
    {
      row: 1,
      file: events,
      before: "  'withdrawal.status_changed': entry({\n",
      insert: `  'deposit.failed': entry({
    summary: 'A deposit failed',
    description: 'Sent when you mark a deposit as failed; nothing was credited.',
    visibility: 'public',
    emittedBy: 'payments',
    consumedBy: ['webhooks'],
    data: Type.Object({ ...Deposit.properties, previousStatus: DepositStatus, version }, closed),
    example: {
      ...confirmedDeposit,
      status: 'failed',
      failureReason: 'expired',
      confirmedAt: null,
      failedAt: '2026-03-02T12:32:00.000Z',
      previousStatus: 'pending',
      version: 2,
    },
  }),
`,
    },
    {
      row: 2,
      file: step,
      replace: '[creditOf(deposit, now), confirmationOf(deposit, reply)] : []',
      by: '[creditOf(deposit, now), confirmationOf(deposit, reply)] : [failureOf(deposit, reply)]',
    },
    {
      row: 2,
      file: step,
      before: 'function confirmationOf(',
      insert: `function failureOf(deposit: DepositRecord, reply: PublicDeposit) {
  const data = { ...reply, previousStatus: 'pending', version: deposit.version } as const
  return { kind: 'deposit.failed', aggregate: deposit.id, scope: deposit, data } satisfies EmittedEvent<'deposit.failed'>
}

`,
    },
    {
      row: 3,
      file: commandTest,
      replace: 'a failed deposit credits nothing, keeps its reason and tells nobody',
      by: 'a failed deposit credits nothing, keeps its reason, and the operator is told',
    },
    {
      row: 3,
      file: commandTest,
      replace: '  t.same(await path.events(id), [])\n',
      by: `  t.same(await path.events(id), [
    { type: 'deposit.failed', data: { ...failed, previousStatus: 'pending', version: 2 } },
  ])
  t.equal(await refusal(path.fail(id)), 'DEPOSIT_NOT_PENDING')
  t.equal((await path.events(id)).length, 1)
`,
    },
    {
      row: 6,
      file: 'examples/webhook-receiver.ts',
      after: "    case 'deposit.confirmed':\n",
      insert: "    case 'deposit.failed':\n",
    },
    {
      row: 7,
      file: 'docs/webhooks.md',
      before: '| `withdrawal.status_changed` |',
      insert: '| `deposit.failed` | you mark a deposit as failed |\n',
    },
    {
      row: 8,
      file: 'CHANGELOG.md',
      after: '## Unreleased\n\n',
      insert: '### Added\n\n- Webhook event `deposit.failed`.\n\n',
    },
    {
      row: 9,
      file: 'services/payments/README.md',
      after: '└──────fail─────▶ failed',
      insert: '           (event deposit.failed)',
    },
  ],
  spared: [],
  tests: [
    exampleTest,
    brokerTest,
    namesTest,
    permissionsTest,
    documentsTest,
    'packages/documents/test/documents.test.ts',
    'packages/documents/test/compatibility.test.ts',
    typesTest,
    ownTest,
  ],
  slips: [
    {
      row: 1,
      slip: 'done wrong',
      file: events,
      replace: "      status: 'failed',\n",
      by: "      status: 'gone',\n",
      toldBy: exampleTest,
      says: /deposit\.failed/,
    },
    {
      row: 1,
      slip: 'done wrong',
      file: events,
      replace:
        "nothing was credited.',\n    visibility: 'public',\n    emittedBy: 'payments',\n    consumedBy: ['webhooks'],",
      by: "nothing was credited.',\n    visibility: 'public',\n    emittedBy: 'payments',\n    consumedBy: [],",
      toldBy: brokerTest,
      says: /"deposit\.failed"/,
    },
    {
      row: 1,
      slip: 'done wrong',
      file: events,
      replace: "nothing was credited.',\n    visibility: 'public',\n    emittedBy: 'payments'",
      by: "nothing was credited.',\n    visibility: 'public',\n    emittedBy: 'players'",
      toldBy: namesTest,
      says: /deposit\.failed by players/,
    },
    { row: 2, slip: 'left out', toldBy: ownTest, says: /not ok .*the operator is told/ },
    { row: 4, slip: 'left out', toldBy: permissionsTest, says: /events\.deposit\.failed/ },
    { row: 5, slip: 'left out', toldBy: typesTest, says: /npm run generate/ },
    // No document names an internal event.
    {
      row: 5,
      slip: 'done wrong',
      file: events,
      replace: "nothing was credited.',\n    visibility: 'public'",
      by: "nothing was credited.',\n    visibility: 'internal'",
      toldBy: typesTest,
      says: /npm run generate/,
    },
    { row: 6, slip: 'left out', toldBy: compiler, says: /webhook-receiver\.ts/ },
    { row: 7, slip: 'left out', toldBy: documentsTest, says: /deposit\.failed/ },
  ],
}
