import t from 'tap'
import { findNamedMutants, namedMutants } from './named.ts'
import { inOrder, type Record, targetFiles, testFilesOf, workspaceOf } from './targets.ts'

t.test('money code is what decides and writes, and not what only shows', async (t) => {
  const files = targetFiles([])
  for (const path of [
    'services/wallet/src/ledger/decide.ts',
    'services/payments/src/deposits/operations.ts',
    'services/gateway/src/claims/records.ts',
    'packages/service-runtime/src/outbox/sending.ts',
  ])
    t.ok(files.includes(path), path)
  t.notOk(files.some((path) => /index\.ts$|migrations|get-wallet|list-deposits/.test(path)))
})

t.test('every file of money code has tests in its workspace', async (t) => {
  for (const workspace of new Set(targetFiles([]).map(workspaceOf))) t.ok(testFilesOf(workspace).length > 0, workspace)
})

t.test('the beginning of a path chooses other files', async (t) => {
  t.same(targetFiles(['services/webhooks/src/deliveries/deliv']), ['services/webhooks/src/deliveries/delivery.ts'])
})

t.test('the nearest test runs first, then what killed most for its time', async (t) => {
  const record = (file: string, seconds: number, kills: number): Record => ({ file, seconds, kills, isSound: true })
  const records = [
    record('test/operations/slow.test.ts', 20, 1),
    record('test/operations/quick.test.ts', 2, 1),
    record('test/deposits/hold.test.ts', 1, 0),
    record('test/deposits/deposit.test.ts', 5, 0),
  ]
  t.same(
    inOrder('services/payments/src/deposits/deposit.ts', records).map(({ file }) => file),
    [
      'test/deposits/deposit.test.ts',
      'test/deposits/hold.test.ts',
      'test/operations/quick.test.ts',
      'test/operations/slow.test.ts',
    ],
  )
})

t.test('each guard of "exactly one effect" stands in the sources as its mutant knows it', async (t) => {
  const found = findNamedMutants()
  t.equal(found.length, namedMutants.length)
  for (const { path, test, workspace = workspaceOf(path) } of found)
    t.ok(
      testFilesOf(workspace).some((file) => file.endsWith(`/${test}.test.ts`)),
      `${path} has ${test}.test.ts`,
    )
})
