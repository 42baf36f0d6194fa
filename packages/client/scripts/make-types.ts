// Writes what of src follows from the tables of the contracts and is not checked in: api.ts, names.ts and methods.ts. It takes two
// seconds, so it is done when what they follow from has changed. `npm test`, `npm run typecheck` and whatever else loads
// the client at the root begin with it; `npm start` does not need it. Where the tools of developers are not installed,
// api.ts has no types, which no program needs to run.
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../../', import.meta.url))
const followsFrom = ['contracts/src/**/*.ts', 'api-docs/src/*.ts', 'client/scripts/{generate,make-types}.ts']
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

function hasTypeMaker(): boolean {
  try {
    import.meta.resolve('openapi-typescript')
    return true
  } catch {
    return false
  }
}

/** @returns whether they were written */
export async function makeTypes(): Promise<boolean> {
  const start = `// Generated from the operation table, as it is at ${fingerprint()}`
  const withTypes = hasTypeMaker()
  const mark = `${start}${withTypes ? '' : ', without types'}.\n`
  const files = ['api', 'names', 'methods'].map(source)
  const isMade = (text: string) => text.startsWith(mark) || text.startsWith(`${start}.\n`)
  if (files.every((file) => existsSync(file) && isMade(readFileSync(file, 'utf8')))) return false
  const { generateMethods, generateNames, generateTypes, generateValues } = await import('./generate.ts')
  // The one that is loaded by most comes last: a run that is killed begins again.
  writeFileSync(source('names'), mark + generateNames())
  writeFileSync(source('methods'), mark + generateMethods())
  writeFileSync(source('api'), mark + generateValues() + (withTypes ? await generateTypes() : ''))
  return true
}

if (import.meta.main) await makeTypes()
