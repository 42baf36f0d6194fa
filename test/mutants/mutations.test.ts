import t from 'tap'
import { applied, mutantsOf } from './mutations.ts'

const changesOf = (source: string) => mutantsOf('a.ts', source).map(({ change }) => change)
const sql = (statement: string) => changesOf(`db<Row>\`${statement}\``)

t.test('a comparison is turned round and moved by one', async (t) => {
  t.same(changesOf('const isOver: boolean = sum > (limit as bigint)'), [
    'sum > (limit as bigint) → sum >= (limit as bigint)',
    'sum > (limit as bigint) → sum <= (limit as bigint)',
  ])
})

t.test('a condition is always true and never true', async (t) => {
  t.same(changesOf('if (a && b) { c }'), ['a && b → true', 'a && b → false', 'a && b → a || b'])
  t.same(changesOf('x = a ? b : c').slice(1), ['a → true', 'a → false'])
})

t.test('what has an effect is left out', async (t) => {
  t.same(changesOf('await save(rows)'), ['await save(rows) → nothing'])
  t.same(changesOf("throw new Rejection('NO')"), ["throw new Rejection('NO') → nothing"])
  t.same(changesOf('const ours = all.filter(isOurs).some(isNew)'), ['.filter(isOurs) → nothing', 'some → every'])
})

t.test('small numbers and truths become others, limits stay', async (t) => {
  t.same(changesOf('const a = { version: 1, waits: true, at: 0n, max: 5_000 }'), ['1 → 2', 'true → false', '0n → 1n'])
})

t.test('text, assertions, faults of ours and logs are left alone', async (t) => {
  t.same(changesOf("const a: string = 'b' + c"), [])
  t.same(changesOf("assert(a > 0, 'a is positive')"), [])
  t.same(changesOf("if (a) throw new Error(b ? 'c' : 'd')"), ['a → true'])
  t.same(changesOf('tools.log.warn({ a: b > c })'), [])
})

t.test('a statement loses its locks and fences', async (t) => {
  t.same(sql(`select id from t where id = any(\${ids}) for update skip locked`), [
    `where id = any(\${ids}) → where true`,
    'for update skip locked → nothing',
    'skip locked → nothing',
  ])
  t.same(sql('insert into t select 1 on conflict (a) where b <> 1 do nothing'), [
    'on conflict (a) where b <> 1 do nothing → nothing',
    'where b <> 1 → where true',
    '<> → =',
  ])
})

t.test('a statement loses each of its conditions, whatever brackets are in it', async (t) => {
  t.same(sql('select a from t where (b or (c and d)) and not exists (select from u where e) order by a limit 1'), [
    'where (b or (c and d)) → where true',
    'and d → nothing',
    'and not exists (select from u where e) → nothing',
    'not exists → exists',
    'where e → where true',
    'order by a → nothing',
  ])
  t.same(sql('select a from t where b between 1 and 2 and c'), [
    'where b between 1 and 2 → where true',
    'and c → nothing',
  ])
})

t.test('comments, quoted words and placeholders of a statement are not taken for SQL', async (t) => {
  t.same(sql(`select 'a and b', \${c ? d : e} -- where and\n from t`), ['c → true', 'c → false'])
})

t.test('each mutant has its line, and applying it changes nothing else', async (t) => {
  const source = 'const a = b\nconst c: number = d - e\n'
  const [mutant] = mutantsOf('a.ts', source)
  t.match(mutant, { path: 'a.ts', line: 2 })
  t.equal(mutant && applied(source, mutant), 'const a = b\nconst c: number = d + e\n')
})
