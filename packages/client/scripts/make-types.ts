// Writes what of src follows from the tables of the contracts and is not checked in: api.ts, names.ts and methods.ts. It takes two
// seconds, so it is done when what they follow from has changed. `npm test`, `npm run typecheck` and whatever else loads
// the client at the root begin with it; `npm start` does not need it. Where the tools of developers are not installed,
// api.ts has no types, which no program needs to run.
import { writeFileSync } from 'node:fs'
import { isMade, marks, source } from './made.ts'

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
  const withTypes = hasTypeMaker()
  const known = marks()
  const mark = withTypes ? known.withTypes : known.withoutTypes
  if (isMade([mark, known.withTypes])) return false
  const { generateMethods, generateNames, generateTypes, generateValues } = await import('./generate.ts')
  // The one that is loaded by most comes last: a run that is killed begins again.
  writeFileSync(source('names'), mark + generateNames())
  writeFileSync(source('methods'), mark + generateMethods())
  writeFileSync(source('api'), mark + generateValues() + (withTypes ? await generateTypes() : ''))
  return true
}

if (import.meta.main) await makeTypes()
