import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { allOperations, brokerUsers, databaseRoles } from '@backoffice/contracts'
import t from 'tap'
import { root } from '../structure/source-files.ts'

const [, after = ''] = readFileSync(join(root, 'docs/security.md'), 'utf8').split(
  '\n## What whoever is taken over could cause\n',
)
const [section = ''] = after.split('\n## ')

t.test('whoever has a password is in the list of docs/security.md', async (t) => {
  const listed = [...section.matchAll(/^- \*\*(.+?)\*\*: /gm)].map(([, who]) => who)
  t.same(
    [...brokerUsers, ...databaseRoles].filter((user) => !listed.includes(user)),
    [],
  )
})

t.test('each call that a service answers to another says there what a false answer causes, and none', async (t) => {
  const named = [...section.matchAll(/^- ([\w, ]+): /gm)].flatMap(([, calls = '']) => calls.split(', '))
  const between = allOperations.filter(({ audience }) => audience === 'internal' || audience === 'provider')
  t.same(
    named.filter((call) => call !== 'what operators call').sort(),
    [...new Set(between.map(({ id }) => id))].sort(),
  )
})
