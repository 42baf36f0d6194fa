// Whether what make-types.ts writes is there, and follows from the tables as they are. It loads none of them.
import { createHash } from 'node:crypto'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const packages = fileURLToPath(new URL('../../', import.meta.url))
const followsFrom = ['contracts/src/**/*.ts', 'api-docs/src/*.ts', 'client/scripts/{generate,made,make-types}.ts']
export const source = (name: 'api' | 'names' | 'methods') => new URL(`../src/${name}.ts`, import.meta.url)

/** Of everything that is read, its names too. */
function fingerprint(): string {
  const hash = createHash('sha256')
  for (const file of globSync(followsFrom, { cwd: packages }).sort()) {
    hash.update(`${file}\n`)
    hash.update(readFileSync(packages + file))
  }
  return hash.digest('hex')
}

/** How each file begins, with types and without. */
export function marks() {
  const start = `// Generated from the operation table, as it is at ${fingerprint()}`
  return { withTypes: `${start}.\n`, withoutTypes: `${start}, without types.\n` }
}

/** @param enough marks of which one is enough */
export const isMade = (enough: readonly string[]): boolean =>
  (['api', 'names', 'methods'] as const)
    .map(source)
    .every((file) => existsSync(file) && enough.some((mark) => readFileSync(file, 'utf8').startsWith(mark)))
