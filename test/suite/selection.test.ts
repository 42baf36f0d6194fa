import t from 'tap'
import { select } from './selection.ts'

const files = ['e2e/rules.test.ts', 'e2e/errors.test.ts', 'rollout/replicas.test.ts']

t.test('without a name everything runs', async (t) => {
  t.same(select([], files), { filters: [], files: [] })
})

t.test('a name is part of the names of workspaces', async (t) => {
  t.same(select(['wallet', 'payments'], files), { filters: ['--filter=*wallet*', '--filter=*payments*'], files: [] })
})

t.test('the name of a folder in test/ runs that folder, beside the workspaces that are named', async (t) => {
  t.same(select(['e2e', 'wallet'], files), {
    filters: ['--filter=*wallet*', '--filter=@backoffice/system-tests'],
    files: ['e2e/errors.test.ts', 'e2e/rules.test.ts'],
  })
})

t.test('the name of the workspace runs all of test/', async (t) => {
  t.same(select(['system-tests'], files), { filters: ['--filter=*system-tests*'], files: [] })
})
