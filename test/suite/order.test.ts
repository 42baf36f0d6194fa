import { existsSync, globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { sharesSystem } from './groups.ts'
import { isLong, longFiles } from './order.ts'

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
