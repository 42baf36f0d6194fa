// Runs test files in this process, one after another, each as a test with the name of the file. To load the services, and
// to let Node get to know their code, costs more than what most files do with them.
//
// A file imports tap as ever, but what it gets is a test of its own: its subtests are below it, what it tears down ends
// with it, and its time is counted by itself. It finds the folder of its workspace and the environment as if it were alone.

import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Test } from 'tap'
import type { TestFile } from './files.ts'

/** Taken out before tap sees it: it names the folders of tests after all arguments, which would be too long. */
const [files = '[]'] = process.argv.splice(2)
const ownTests = new Map<string, Test>()
let current: Test
Object.assign(globalThis, { ownTestOf: (file: string) => ownTests.get(file) })
/** A file's tap is a module of this scheme, behind which is the file's address. */
const scheme = 'own-test:'
/**
 * With this tap follows every promise of the process, to say of an error that nobody caught in which test it was thrown. It
 * costs a tenth of what tests take. Such an error ends the process here, and the runner says in which file.
 */
const follower = 'async-hook-domain'

registerHooks({
  resolve(specifier, context, next) {
    const { parentURL = '' } = context
    if (specifier === follower) return { url: `${scheme}${follower}`, format: 'module', shortCircuit: true }
    if (specifier !== 'tap' || !parentURL.endsWith('.test.ts')) return next(specifier, context)
    // Of a file that another one imports: that one's.
    if (!ownTests.has(parentURL)) ownTests.set(parentURL, current)
    return { url: `${scheme}${parentURL}`, format: 'module', shortCircuit: true }
  },
  load(url, context, next) {
    if (!url.startsWith(scheme)) return next(url, context)
    const asked = url.slice(scheme.length)
    const source =
      asked === follower
        ? 'export class Domain { destroy() {} }'
        : `export * from ${JSON.stringify(tap)}; export default globalThis.ownTestOf(${JSON.stringify(asked)})`
    return { source, format: 'module', shortCircuit: true }
  },
})

const { default: t } = await import('tap')
const tap = import.meta.resolve('tap')

/** In seconds, as tap reads it. */
const { TAP_TIMEOUT: fileTimeoutSeconds = '30' } = process.env
const environment = { ...process.env }
const forgetChanges = () => {
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name]
  Object.assign(process.env, environment)
}
// The time of all together is nobody's concern.
t.setTimeout(0)
for (const { directory, path, place } of JSON.parse(files) as TestFile[]) {
  const url = pathToFileURL(join(directory, path)).href
  process.chdir(directory)
  await t.test(place, { timeout: Number(fileTimeoutSeconds) * 1_000 }, async (own) => {
    current = own
    ownTests.set(url, own)
    await import(url)
  })
  forgetChanges()
}
