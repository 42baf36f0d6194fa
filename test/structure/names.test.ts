import { basename, dirname } from 'node:path'
import t from 'tap'
import { sourceFiles } from './source-files.ts'

// Names that say nothing about what is inside.
const forbidden = /^(utils?|common|helpers?|managers?|misc|shared|stuff)$/

t.test('no file or folder is named utils, common, helper or manager', async (t) => {
  const offenders = sourceFiles()
    .map((file) => file.path)
    .filter((path) => {
      const words = [...dirname(path).split('/'), basename(path)].flatMap((name) => name.split(/[-.]/))
      return words.some((word) => forbidden.test(word))
    })
  t.same(offenders, [])
})

t.test("an operation's handler has the operation's name", async (t) => {
  const handlers = sourceFiles()
    .filter(({ path }) => /^services\/\w+\/src\//.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\bhandle\(\s*operations\.\w+\.(\w+)/g)].map(([, id = '']) => ({ path, text, id })),
    )
  t.ok(handlers.length > 60)
  const offenders = handlers.filter(({ text, id }) => !new RegExp(`^export const ${id}\\b`, 'm').test(text))
  t.same(
    offenders.map(({ path, id }) => `${path}: ${id}`),
    [],
  )
})

t.test('a file of a service has at most 350 lines', async (t) => {
  const long = sourceFiles().filter(
    ({ path, text }) => /^services\/\w+\/src\//.test(path) && text.split('\n').length > 351,
  )
  t.same(
    long.map(({ path }) => path),
    [],
  )
})

t.test('an event is sent by the service that its entry names', async (t) => {
  const { eventKinds, events } = await import('@backoffice/contracts')
  const sent = sourceFiles().flatMap(({ path, text }) => {
    const [, service = ''] = /^services\/(\w+)\/src\//.exec(path) ?? []
    const kinds = [...text.matchAll(/\b(?:kind|type): '(\w+\.\w+)'/g)].map(([, kind = '']) => kind)
    return service === '' ? [] : kinds.map((kind) => `${kind} by ${service}`)
  })
  t.same([...new Set(sent)].sort(), eventKinds.map((kind) => `${kind} by ${events[kind].emittedBy}`).sort())
})

t.test(
  'what belongs together is told by an id: nothing that is compared or shown joins two tables by a time',
  async (t) => {
    const judging = sourceFiles().filter(
      ({ path }) =>
        /^services\/\w+\/src\/(reconciliation|statement|storage)\//.test(path) ||
        path.startsWith('packages/team-access/src/'),
    )
    t.ok(judging.length > 60)
    const offenders = judging.flatMap(({ path, text }) => joinsByTime(text).map((join) => `${path}: ${join}`))
    t.same(offenders, [])
    const join = 'join a on (a.subject, a.at, a.actor) = (c.player_id, c.at, c.actor)'
    t.same(
      [join, 'where c.at = t.created_at', "a.at between d.at - interval '1 minute' and d.at"].map(
        (one) => joinsByTime(one).length,
      ),
      [1, 1, 0],
    )
  },
)

/** Equations in which a time of one table stands on one side, and one of another table on the other. */
function joinsByTime(text: string): string[] {
  const side = /(?:\([^()]*\)|\b\w+\.\w+)/.source
  return [...text.matchAll(new RegExp(`(${side})\\s*(?:=|is not distinct from)\\s*(${side})`, 'g'))].flatMap(
    ([equation, ...sides]) =>
      sides.every((one) => /\b\w+\.(?:at|\w+_at)\b/.test(one)) ? [equation.replace(/\s+/g, ' ')] : [],
  )
}

t.test('a log line can be read alone: it is a sentence that names its subject', async (t) => {
  const calls = sourceFiles()
    .filter(({ path }) => /^(services|packages)\/[\w-]+\/src\//.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\blog\??\.(?:debug|info|warn|error|fatal)\(\s*(?:\{[^}]*\},\s*)?(['`])(.+?)\1,?\s*\)/g)].map(
        ([, , said = '']) => ({ path, said }),
      ),
    )
  t.ok(calls.length > 50)
  t.same(
    calls.filter(({ said }) => said.split(' ').length < 4),
    [],
  )
})
