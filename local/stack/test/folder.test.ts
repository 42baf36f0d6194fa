import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { stackSecrets } from '../src/secrets.ts'
import { claimFolder, releaseFolder } from '../src/stack-file.ts'

t.test('secrets are made once, differ from each other and are readable by the owner only', async (t) => {
  const dir = t.testdir()
  const secrets = stackSecrets(dir)
  t.same(stackSecrets(dir), secrets)
  t.equal(statSync(join(dir, 'secrets.json')).mode & 0o777, 0o600)
  const passwords = [secrets.postgres, ...[secrets.databaseRoles, secrets.nats, secrets.console].flatMap(Object.values)]
  t.equal(new Set(passwords).size, passwords.length)
})

t.test('a folder left by a crash is taken over', async (t) => {
  const dir = t.testdir({ 'supervisor.pid': '999999999' })
  claimFolder(dir, false)
  releaseFolder(dir)
  t.notOk(existsSync(join(dir, 'supervisor.pid')))
})

t.test('of two starts at once in a folder one is told of the other', async (t) => {
  const dir = t.testdir()
  const module = new URL('../src/stack-file.ts', import.meta.url).href
  // It waits for a moment that both know, so that they come together.
  const script = `import { claimFolder } from '${module}'
    while (Date.now() < ${Date.now() + 5_000});
    try { claimFolder('${dir}', false); console.log('has it'); setInterval(() => {}, 1_000) } catch (error) { console.log(error.message) }
    // So that it is known by its command line: local/stack`
  const two = [0, 1].map(() => spawn(process.execPath, ['--input-type=module', '--eval', script]))
  t.teardown(() => two.map((each) => each.kill()))
  const said = await Promise.all(two.map(async ({ stdout }) => String(await once(stdout, 'data'))))
  t.match(said.sort(), [/^A stack is already running/, /^has it/])
})

t.test('--fresh removes what a stack wrote and nothing else', async (t) => {
  const dir = t.testdir({ 'secrets.json': '{}', 'letter.txt': 'mine' })
  mkdirSync(join(dir, 'postgres'))
  writeFileSync(join(dir, 'postgres', 'PG_VERSION'), '18')
  claimFolder(dir, true)
  t.notOk(existsSync(join(dir, 'secrets.json')))
  t.notOk(existsSync(join(dir, 'postgres')))
  t.ok(existsSync(join(dir, 'letter.txt')))
})
