import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

export interface SourceFile {
  /** From the root of the repository, with slashes. */
  readonly path: string
  readonly text: string
  /** Modules it imports: relative ones as paths from the root, the others as written. */
  readonly imports: readonly string[]
}

const importPattern = /(?:^|[\s;}])(?:import|from)\s*\(?\s*['"]([^'"\n]+)['"]/gm

/** All TypeScript and JavaScript of the repository that people write. */
export function sourceFiles(): readonly SourceFile[] {
  return globSync('{packages,services,local,test,deploy,examples}/**/*.{ts,mjs,js}', {
    cwd: root,
    exclude: (path) => /(^|\/)(node_modules|\.tap|dist)(\/|$)/.test(String(path)),
  }).map((path) => {
    const text = readFileSync(join(root, path), 'utf8')
    return {
      path,
      text,
      imports: [...text.matchAll(importPattern)].map((match) => resolveImport(path, match[1] ?? '')),
    }
  })
}

/** A relative module as a path from the root, another as it is written. */
function resolveImport(from: string, specifier: string): string {
  if (!specifier.startsWith('.')) return specifier
  return relative(root, resolve(root, dirname(from), specifier))
}
