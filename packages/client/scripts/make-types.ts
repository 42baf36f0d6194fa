// Writes what of src follows from the tables of the contracts and is not checked in: api.ts, names.ts and
// methods.ts. It takes two
// seconds, so it is done when what they follow from has changed. `npm test`, `npm run typecheck` and whatever else loads
// the client at the root begin with it; `npm start` does not need it.
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../../', import.meta.url))
const followsFrom = ['contracts/src/**/*.ts', 'documents/src/*.ts', 'client/scripts/{api-types,methods,make-types}.ts']
const source = (name: string) => new URL(`../src/${name}.ts`, import.meta.url)

/** Of everything that is read, its names too. */
function fingerprint(): string {
  const hash = createHash('sha256')
  for (const file of globSync(followsFrom, { cwd: packages }).sort()) {
    hash.update(`${file}\n`)
    hash.update(readFileSync(packages + file))
  }
  return hash.digest('hex')
}

/** @returns whether they were written */
export async function makeTypes(): Promise<boolean> {
  const mark = `// Generated from the operation table, as it is at ${fingerprint()}.\n`
  const files = ['api', 'names', 'methods'].map(source)
  if (files.every((file) => existsSync(file) && readFileSync(file, 'utf8').startsWith(mark))) return false
  const [{ generateApi, generateNames }, { generateMethods }] = await Promise.all([
    import('./api-types.ts'),
    import('./methods.ts'),
  ])
  // The one that is loaded by most comes last: a run that is killed begins again.
  writeFileSync(source('names'), mark + generateNames())
  writeFileSync(source('methods'), mark + generateMethods())
  writeFileSync(source('api'), mark + (await generateApi()))
  return true
}

if (import.meta.main) await makeTypes()
