import t from 'tap'
import { groups } from '../src/cases/index.ts'
import { parseOptions } from '../src/options.ts'

const names = groups.map(({ name }) => name)

t.test('the short form does less of everything, and what is given goes before either form', async (t) => {
  const full = parseOptions([], names)
  const short = parseOptions(['--short', '--rounds', '3'], names)
  t.equal(full.short, false)
  t.equal(short.rounds, 3)
  for (const key of ['windowMs', 'players', 'rows', 'claims', 'neighbours'] as const) t.ok(short[key] < full[key], key)
})

t.test('groups are chosen by name', async (t) => {
  t.same(parseOptions(['--only', 'pairs,wallet'], names).only, ['pairs', 'wallet'])
  t.equal(parseOptions([], names).only, undefined)
  t.throws(() => parseOptions(['--only', 'pears'], names), /no group pears[\s\S]*black-hole/)
})

t.test('an invalid number or an unknown option prints the usage', async (t) => {
  for (const value of ['0', '-1', 'many', '1.5']) {
    t.throws(() => parseOptions([`--rounds=${value}`], names), /--rounds takes a number[\s\S]*npm run bench/)
  }
  t.throws(() => parseOptions(['--fast'], names), /npm run bench/)
  t.equal(parseOptions(['--open-loop', '200'], names).openLoopRate, 200)
})
