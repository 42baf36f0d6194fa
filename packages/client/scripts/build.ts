// Builds dist/: one ESM file without dependencies, and its declarations.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
rmSync(`${root}dist`, { recursive: true, force: true })
await build({
  entryPoints: [`${root}src/index.ts`],
  outfile: `${root}dist/index.js`,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
})
const compiler = fileURLToPath(import.meta.resolve('typescript/lib/tsc.js'))
execFileSync(process.execPath, [compiler, '--project', `${root}tsconfig.build.json`], { stdio: 'inherit' })
