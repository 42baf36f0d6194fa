import t from 'tap'
import { diagnosticsOf, readResults } from './results.ts'

const path = 'test/a.test.ts'
const ended = (tap: string, fault?: string) => ({ path, tap, fault })

t.test('assertions are not counted, tests are', async (t) => {
  const results = readResults(
    ended(`TAP version 14
# Subtest: two assertions
    ok 1 - one
    ok 2 - two
    1..2
ok 1 - two assertions
1..1
`),
  )
  t.same(results, { passed: 1, failed: [], skipped: [] })
})

t.test('a file of assertions alone is one test', async (t) => {
  const results = readResults(ended('TAP version 14\nok 1 - one\nok 2 - two\n1..2\n'))
  t.same(results, { passed: 1, failed: [], skipped: [] })
})

t.test('a failed test is named with its file and its group', async (t) => {
  const results = readResults(
    ended(
      `TAP version 14
# Subtest: group
    # Subtest: passes
        ok 1 - one
        1..1
    ok 1 - passes
    # Subtest: fails
        not ok 1 - one
        1..1
    not ok 2 - fails
    1..2
not ok 1 - group
1..1
`,
      'exit status 1',
    ),
  )
  t.same(results, { passed: 1, failed: ['test/a.test.ts > group > fails'], skipped: [] })
})

t.test('a skipped test is named with its reason, wherever it stands', async (t) => {
  const results = readResults(
    ended(`TAP version 14
# Subtest: group
    ok 1 - needs an engine # SKIP no Docker engine answers
    1..1
ok 1 - group
ok 2 - not written # todo
1..2
`),
  )
  t.same(results.skipped, [
    { name: 'test/a.test.ts > group > needs an engine', reason: 'no Docker engine answers' },
    { name: 'test/a.test.ts > not written', reason: 'to do' },
  ])
  t.equal(results.passed, 0)
  t.same(results.failed, [])
})

t.test('a file that ends badly after its tests passed counts as failed', async (t) => {
  const passed = `TAP version 14
# Subtest: passes
    ok 1 - one
    1..1
ok 1 - passes
1..1
`
  t.same(readResults(ended(passed)), { passed: 1, failed: [], skipped: [] })
  t.same(readResults(ended(passed, 'SIGKILL')), { passed: 1, failed: [path], skipped: [] })
})

t.test('a file whose results are cut short, or that has none, counts as failed', async (t) => {
  const cut = `TAP version 14
# Subtest: passes
    ok 1 - one
    1..1
ok 1 - passes
# Subtest: was running
`
  for (const fault of [undefined, 'SIGKILL']) t.same(readResults(ended(cut, fault)).failed, [path])
  t.same(readResults(ended('')).failed, [path])
})

t.test('a failed file says what failed in it', async (t) => {
  const diagnostics = diagnosticsOf(`TAP version 14
# Subtest: fails
    ok 1 - one
    not ok 2 - two
      ---
      found: 3
      ...
    1..2
not ok 1 - fails
ok 2 - passes
1..2
# time=5ms
`)
  t.same(
    diagnostics.map((line) => line.trim()),
    ['not ok 2 - two', '---', 'found: 3', '...', 'not ok 1 - fails'],
  )
})
