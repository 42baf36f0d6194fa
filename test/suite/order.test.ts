import { existsSync, globSync, readFileSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { sharesSystem } from './groups.ts'
import { inOrder, isLong, longFiles, runAll } from './order.ts'

const root = new URL('../../', import.meta.url)

t.test('each file of the lists exists, and is named once', async (t) => {
  const paths = [...longFiles.working, ...longFiles.waiting]
  for (const path of paths) t.ok(existsSync(fileURLToPath(new URL(path, root))), path)
  t.equal(new Set(paths).size, paths.length)
})

t.test('files that share a system are in the lists: it runs until the last of them has ended', async (t) => {
  const paths = globSync('{packages/*,services/*,bench}/test/**/*.test.ts', { cwd: fileURLToPath(root) })
  const own = globSync('test/*/**/*.test.ts', { cwd: fileURLToPath(root) })
  const sharing = [...paths, ...own].filter((path) => sharesSystem(readFileSync(new URL(path, root), 'utf8')))
  t.ok(sharing.length > 5)
  t.same(
    sharing.filter((path) => !isLong(path)),
    [],
  )
})

t.test(
  'long files begin before the others, which keep their order, and waiting files have a list of theirs',
  async (t) => {
    const long = { working: ['longest', 'long'], waiting: ['waits'] }
    t.same(
      inOrder(['b', 'long', 'waits', 'a', 'longest'], (path) => path, long),
      { working: ['longest', 'long', 'b', 'a'], waiting: ['waits'] },
    )
  },
)

t.test('no more run at once than there are places, which take from both ends', async (t) => {
  const begun: number[] = []
  let running = 0
  await runAll([1, 2, 3, 4, 5, 6], { first: 2, last: 1 }, async (item) => {
    begun.push(item)
    running += 1
    t.ok(running <= 3, `${running} at once`)
    await setImmediate()
    running -= 1
  })
  t.same(begun, [1, 2, 6, 3, 4, 5])
})
