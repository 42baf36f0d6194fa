import t from 'tap'
import { readSource, type TestFile } from './files.ts'
import { inGroups, shardOf } from './order.ts'

const file = (workspace: string, path: string, text = ''): TestFile => ({
  workspace,
  directory: workspace,
  path,
  place: `${workspace}/${path}`,
  ...readSource(text),
})

t.test('each file is in one shard, and the shards take about as long', async (t) => {
  const files = Array.from({ length: 20 }, (_, index) => file('a', String(index)))
  const secondsOf = ({ path }: TestFile) => Number(path) + 1
  const shards = [1, 2, 3].map((number) => shardOf(files, number, 3, secondsOf))
  t.same(new Set(shards.flat()), new Set(files))
  t.equal(shards.flat().length, files.length)
  const sums = shards.map((shard) => shard.reduce((sum, file) => sum + secondsOf(file), 0))
  t.ok(Math.max(...sums) - Math.min(...sums) <= 2, sums.join(' '))
})

t.test('files share twelve processes, neighbours together; who must be alone is alone', async (t) => {
  const alone = file('a', 'exit', '// In a process of its own: it exits.\n')
  const shared = Array.from({ length: 120 }, (_, index) => file('a', String(index)))
  const groups = inGroups([...shared, alone, file('b', 'system', 'await sharedSystem(t)\n')], () => 1)
  t.same(groups.map((group) => group.length).toSorted(), [...Array(12).fill(10), 1, 1].toSorted())
  t.same(
    groups.flat().filter(({ workspace, mayShareProcess }) => workspace === 'a' && mayShareProcess),
    shared,
  )
})
