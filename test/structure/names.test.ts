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

t.test('file names are lower case with hyphens', async (t) => {
  const offenders = sourceFiles()
    .map((file) => file.path)
    .filter((path) => !/^[a-z0-9.-]+$/.test(basename(path)))
  t.same(offenders, [])
})

t.test('an operation file is named after an operation', async (t) => {
  const { operations } = await import('@backoffice/contracts')
  const kebab = (id: string) => id.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  const known = new Set(
    Object.entries(operations).flatMap(([service, table]) =>
      Object.keys(table).map((id) => `services/${service}/src/operations/${kebab(id)}.ts`),
    ),
  )
  const offenders = sourceFiles()
    .map((file) => file.path)
    .filter((path) => /^services\/\w+\/src\/operations\/[^/]+\.ts$/.test(path) && basename(path) !== 'index.ts')
    .filter((path) => !known.has(path))
  t.same(offenders, [])
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
