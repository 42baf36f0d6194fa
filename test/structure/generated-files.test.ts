import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { allOperations } from '@backoffice/contracts'
import t from 'tap'
import { generated } from '../../deploy/generate.ts'
import { root } from './source-files.ts'

const workspaces = globSync(['{packages,services}/*/package.json', '{test,bench}/package.json'], { cwd: root })

t.test('generated files are what they follow from (npm run generate)', async (t) => {
  for (const [path, render] of Object.entries(generated))
    t.equal(readFileSync(join(root, path), 'utf8'), render(), path)
})

t.test('every internal operation names the services that may call it', async (t) => {
  const nameless = allOperations
    .filter((operation) => operation.audience === 'internal' && (operation.callers ?? []).length === 0)
    .map((operation) => operation.id)
  t.same(nameless, [])
})

t.test('package-lock.json names no registry host', async (t) => {
  const lock = readFileSync(join(root, 'package-lock.json'), 'utf8')
  t.same(lock.match(/"resolved": "https?:[^"]*"/g) ?? [], [])
})

t.test('every dependency that we name has one exact version', async (t) => {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { dependencies?: Record<string, string>; devDependencies?: Record<string, string> }>
  }
  const ranges = Object.entries(lock.packages)
    .filter(([path]) => path !== '' && !path.includes('node_modules'))
    .flatMap(([path, { dependencies, devDependencies }]) =>
      Object.entries({ ...dependencies, ...devDependencies })
        .filter(([, version]) => !/^\d+\.\d+\.\d+/.test(version))
        .map(([name, version]) => `${path}: ${name} ${version}`),
    )
  t.same(ranges, [])
})

t.test('every workspace runs tap with the same plugins', async (t) => {
  // All share one assembled copy of tap; one with other plugins would assemble it anew under the feet of the rest.
  const without = workspaces
    .map((path) => join(root, dirname(path), '.taprc'))
    .filter((path) => !existsSync(path) || !readFileSync(path, 'utf8').includes('extends:'))
  t.same(without, [])
})

t.test('the README says why each dependency is there, and names no other', async (t) => {
  const table = readFileSync(join(root, 'README.md'), 'utf8').split('| package | why |')[1] ?? ''
  const explained = [...table.matchAll(/^\|([^|]+)\|/gm)].flatMap((row) =>
    [...(row[1] ?? '').matchAll(/`([^`]+)`/g)].map((name) => name[1]),
  )
  const used = ['package.json', ...workspaces].flatMap((path) => {
    const { dependencies, devDependencies } = JSON.parse(readFileSync(join(root, path), 'utf8'))
    return Object.keys({ ...dependencies, ...devDependencies })
  })
  const foreign = new Set(used.filter((name) => !name.startsWith('@backoffice/')))
  t.same(explained.sort(), [...foreign].sort())
})
