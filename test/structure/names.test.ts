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
    ({ path, text }) =>
      /^services\/(gateway|players|payments|webhooks)\/src\//.test(path) && text.split('\n').length > 351,
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
