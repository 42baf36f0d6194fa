import t from 'tap'
import { findNamedMutants, namedMutants } from './named.ts'
import { testFilesOf, workspaceOf } from './targets.ts'

t.test('each guard of "exactly one effect" stands in the sources as its mutant knows it', async (t) => {
  const found = findNamedMutants()
  t.equal(found.length, namedMutants.length)
  for (const { path, test, workspace = workspaceOf(path) } of found)
    t.ok(
      testFilesOf(workspace).some((file) => file.endsWith(`/${test}.test.ts`)),
      `${path} has ${test}.test.ts`,
    )
})
