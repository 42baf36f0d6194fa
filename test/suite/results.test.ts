import t from 'tap'
import { diagnosticsOf } from './progress.ts'
import { failedFiles, readResults, readWorkspaceResults } from './results.ts'

t.test('assertions are not counted, tests are', async (t) => {
  const results = readResults(`TAP version 14
1..1
# Subtest: test/a.test.ts
    # Subtest: two assertions
        ok 1 - one
        ok 2 - two
        1..2
    ok 1 - two assertions
    1..1
ok 1 - test/a.test.ts
`)
  t.same(results, { passed: 1, failed: [], skipped: [] })
})

t.test('a failed test is named with its file and its group', async (t) => {
  const results = readResults(`TAP version 14
1..1
# Subtest: test/a.test.ts
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
not ok 1 - test/a.test.ts
`)
  t.same(results, { passed: 1, failed: ['test/a.test.ts > group > fails'], skipped: [] })
})

t.test('a skipped test is named with its reason, wherever it stands', async (t) => {
  const results = readResults(`TAP version 14
1..1
# Subtest: test/a.test.ts
    # Subtest: group
        ok 1 - needs an engine # SKIP no Docker engine answers
        1..1
    ok 1 - group
    ok 2 - not written # todo
    1..2
ok 1 - test/a.test.ts
`)
  t.same(results.skipped, [
    { name: 'test/a.test.ts > group > needs an engine', reason: 'no Docker engine answers' },
    { name: 'test/a.test.ts > not written', reason: 'to do' },
  ])
  t.equal(results.passed, 0)
  t.same(results.failed, [])
})

t.test('a file that ends badly after its tests passed counts as failed', async (t) => {
  const results = readResults(`TAP version 14
1..1
# Subtest: test/a.test.ts
    # Subtest: passes
        ok 1 - one
        1..1
    ok 1 - passes
    # test count(1) != plan(null)
not ok 1 - test/a.test.ts
  ---
  signal: SIGKILL
  ...
`)
  t.same(results, { passed: 1, failed: ['test/a.test.ts'], skipped: [] })
})

t.test('a workspace whose runner crashed, or never ran, counts as failed', async (t) => {
  const cut = `TAP version 14
# Subtest: test/a.test.ts
    # Subtest: passes
        ok 1 - one
        1..1
    ok 1 - passes
    1..1
ok 1 - test/a.test.ts
# Subtest: test/b.test.ts
    # Subtest: was running
`
  t.equal(readWorkspaceResults(cut).passed, 1)
  t.ok(readWorkspaceResults(cut).failed.length > 0)
  t.equal(readWorkspaceResults('').failed.length, 1)
  t.same(readWorkspaceResults(`${cut.slice(0, cut.indexOf('# Subtest: test/b'))}1..1\n# time=5ms\n`).failed, [])
})

t.test('a failed file is known by its path, and says what failed in it', async (t) => {
  const tap = `TAP version 14
# Subtest: test/a.test.ts
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
not ok 1 - test/a.test.ts
# Subtest: test/b.test.ts
    ok 1 - one
    1..1
ok 2 - test/b.test.ts
1..2
# time=5ms
`
  t.same(failedFiles(tap), ['test/a.test.ts'])
  const diagnostics = diagnosticsOf(tap, 'test/a.test.ts').map((line) => line.trim())
  t.same(diagnostics, ['not ok 2 - two', '---', 'found: 3', '...', 'not ok 1 - fails'])
})
