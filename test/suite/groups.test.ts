import t from 'tap'
import { groupFilesMax, inGroups, mayShareProcess } from './groups.ts'

const inFolder = (directory: string, count: number) =>
  Array.from({ length: count }, (_, number) => ({ directory, path: String(number) }))

const byPlace = (a: { directory: string; path: string }, b: typeof a) =>
  `${a.directory}/${a.path}`.localeCompare(`${b.directory}/${b.path}`)

t.test('files of a folder are grouped, as many as a process takes, and the others are alone', async (t) => {
  const files = [...inFolder('a', groupFilesMax + 2), ...inFolder('b', 3)]
  const isAlone = ({ directory, path }: { directory: string; path: string }) => directory === 'a' && path === '1'
  const groups = inGroups(files, (file) => !isAlone(file))
  t.same(
    groups.map((group) => group.length),
    [groupFilesMax, 1, 1, 3],
  )
  for (const [first, ...others] of groups) for (const file of others) t.equal(file.directory, first.directory)
  t.same(groups.flat().toSorted(byPlace), files.toSorted(byPlace), 'each is there once')
})

t.test('a file that touches what a process has once is not run with others', async (t) => {
  t.ok(mayShareProcess("const bed = await testBed(t, { players })\nt.test('a rule', async (t) => {})"))
  for (const line of [
    "process.env.LOG_LEVEL = 'info'",
    "import { spawn } from 'node:child_process'",
    'const system = await startSystem(t)',
    'const browser = await startBrowser(t)',
    '// In a process of its own: it fills the memory.',
  ])
    t.notOk(mayShareProcess(line), line)
})
