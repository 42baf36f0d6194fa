import { readFileSync } from 'node:fs'
import { allOperations, type Operation } from '@backoffice/contracts'
import { validate } from '@backoffice/service-runtime'
import { inputSchema } from '@backoffice/service-runtime/testing'
import t from 'tap'
import { rows } from '../src/commands/index.ts'
import { fieldsOf, wordings } from '../src/fields.ts'
import { typed } from './typed.ts'
import { wordsFor } from './words.ts'

/** Operations of the team that no command calls, each with its reason. */
const withoutCommand: readonly string[] = []

const nameOf = ({ service, id }: { service: string; id: string }) => `${service}.${id}`

t.test('every operation of the team has a command, or is named here as one without', async (t) => {
  const ofTeam = allOperations.filter(({ audience }) => audience === 'team').map(nameOf)
  const called = new Set(rows.flatMap(({ operation, also = [] }) => [operation, ...also].map(nameOf)))
  t.same(new Set([...called, ...withoutCommand]), new Set(ofTeam))
  t.same(
    withoutCommand.filter((name) => called.has(name)),
    [],
  )
})

t.test('no two commands have one name', async (t) => {
  t.equal(new Set(rows.map(({ path }) => path)).size, rows.length)
})

t.test('the README has a line for each noun', async (t) => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  // A line of the table such as `deposits list\|show`; options may follow.
  const listed = [...readme.matchAll(/`([a-z]+) ([a-z-]+(?:\\\|[a-z-]+)*)[^`]*`(?=.* \|$)/gm)]
  const nouns = rows.map(({ path }) => path.split(' ')[0])
  t.same(new Set(listed.map(([, noun]) => noun)), new Set(nouns))
})

t.test('every field that is said in other words is a field of some operation', async (t) => {
  const fields = new Set(rows.flatMap(({ operation }) => Object.keys(operation.body.properties)))
  t.same(
    Object.keys(wordings).filter((name) => !fields.has(name)),
    [],
  )
})

const report = { state: 'done', report: { differencesTotal: 0 } }
const proposed = { service: 'gateway', operation: 'issueCredential', state: 'open' }
const proposal = { ...proposed, input: { operatorId: 'op_1', environment: 'production' }, proposedAt: '2026-03-02' }
const withdrawal = {
  playerId: 'ply_1',
  amount: '1.00',
  currency: 'BRL',
  method: 'pix',
  destination: 'ana',
  destinationSalt: '',
}
const replies = ({ service, id }: Operation) => {
  if (id === 'showWithdrawal') return withdrawal
  if (id === 'showPlayer') return { name: 'Ana', submissions: [] }
  const data = id === 'listProposals' && service === 'gateway' ? [proposal] : []
  return { data, rows: [], nextCursor: null, ...report }
}

for (const row of rows) {
  t.test(`${row.path} takes what its operation takes`, async (t) => {
    // What is given is in one of the two calls: leaving a field out may be what an option means.
    const given = new Set<string>()
    for (const how of ['all', 'needed'] as const) {
      const words = wordsFor(row, how)
      const { error, ...all } = await typed(words, replies)
      t.equal(error, undefined, words.join(' '))
      const sent = all.sent.filter(({ operation }) => [row.operation, ...(row.also ?? [])].includes(operation))
      t.ok(sent.length > 0)
      for (const { operation, input } of sent) t.equal(validate(inputSchema(operation), input), null, words.join(' '))
      for (const name of sent.flatMap(({ input }) => Object.keys(input))) given.add(name)
    }
    const decided = Object.keys(row.fixed ?? {})
    const missing = Object.keys(row.operation.body.properties).filter((name) => !given.has(name))
    t.same(
      missing.filter((name) => !decided.includes(name)),
      [],
      'every field of the body can be given',
    )
  })

  t.test(`${row.path} sends nothing while something that it needs is missing`, async (t) => {
    for (const field of fieldsOf(row)) {
      const byPosition = row.arguments?.includes(field.name as never) || row.either?.includes(field.name as never)
      if (!field.required || field.nullable || field.default !== undefined || byPosition) continue
      const words = wordsFor(row, 'needed')
      words.splice(words.indexOf(field.flags.split(' ')[0] ?? ''), 2)
      const { sent, error } = await typed(words, replies)
      t.ok(error, words.join(' '))
      t.same(sent, [])
    }
  })
}
