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

t.test(
  'short files of a workspace share a process, twelve at most; long ones and those that must not are alone',
  async (t) => {
    const short = Array.from({ length: 13 }, (_, index) => file('a', `short-${index}`))
    const others = [file('a', 'long'), file('a', 'process', 'process.exit()'), file('b', 'other')]
    const groups = inGroups([...short, ...others], ({ path }) => (path === 'long' ? 60 : 1))
    t.same(
      groups.map((group) => group.length),
      [1, 12, 1, 1, 1],
    )
    t.equal(groups[0]?.[0].path, 'long')
  },
)
