// Builds dist/, which is the package as it is published: ES modules and CommonJS, each with declarations, the program,
// and a package.json without what only this repository needs. No dependency is left.
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildOptions, build } from 'esbuild'
import { makeTypes } from './make-types.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const dist = `${root}dist`
const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
const writeJson = (file: string, value: unknown) => writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`)

await makeTypes()
rmSync(dist, { recursive: true, force: true })
mkdirSync(`${dist}/cjs`, { recursive: true })

const options: BuildOptions = { bundle: true, platform: 'node', target: 'node20.12' }
const library = { ...options, entryPoints: [`${root}src/index.ts`] }
await build({ ...library, format: 'esm', outfile: `${dist}/esm/index.js` })
await build({ ...library, format: 'cjs', outfile: `${dist}/cjs/index.js` })
await build({ ...options, entryPoints: [`${root}src/listen/main.ts`], format: 'esm', outfile: `${dist}/listen.js` })
chmodSync(`${dist}/listen.js`, 0o755)

execFileSync(`${root}../../node_modules/.bin/tsc`, ['--project', `${root}tsconfig.build.json`], { stdio: 'inherit' })
for (const file of globSync(`${dist}/esm/*.d.ts`)) {
  // They name each other as the sources do, and those are not in the package.
  const declarations = readFileSync(file, 'utf8').replaceAll(/(from '\.\/[\w-]+)\.ts'/g, "$1.js'")
  // A declaration belongs to the kind of module that the nearest package.json says, so each kind has its own.
  for (const kind of ['esm', 'cjs']) writeFileSync(`${dist}/${kind}/${basename(file)}`, declarations)
}
writeJson(`${dist}/cjs/package.json`, { type: 'commonjs' })

const { name, version, description, type, engines } = readJson(`${root}package.json`)
const { license } = readJson(`${root}../../package.json`)
const face = (kind: 'esm' | 'cjs') => ({ types: `./${kind}/index.d.ts`, default: `./${kind}/index.js` })
writeJson(`${dist}/package.json`, {
  name,
  version,
  description,
  license,
  type,
  engines,
  sideEffects: false,
  // For what does not read "exports".
  main: face('cjs').default,
  types: face('cjs').types,
  exports: { '.': { import: face('esm'), require: face('cjs') }, './package.json': './package.json' },
  bin: { 'backoffice-listen': './listen.js' },
  // The terms do not allow that everybody gets it.
  publishConfig: { access: 'restricted' },
})
// What follows is for this repository.
const [readme = ''] = readFileSync(`${root}README.md`, 'utf8').split('\n## Build\n')
writeFileSync(`${dist}/README.md`, readme)
cpSync(`${root}CHANGELOG.md`, `${dist}/CHANGELOG.md`)
cpSync(`${root}../../LICENSE`, `${dist}/LICENSE`)
