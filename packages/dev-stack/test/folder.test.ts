import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { stackSecrets } from '../src/secrets.ts'
import {
  claimFolder,
  readStack,
  releaseFolder,
  type StackDescription,
  StackFile,
  stackFileIn,
} from '../src/stack-file.ts'

const description: StackDescription = {
  baseUrl: 'http://127.0.0.1:1/api/v1',
  docsUrl: 'http://127.0.0.1:1/api/v1/docs',
  postgresUrl: 'postgresql://127.0.0.1:2/backoffice',
  natsUrl: 'nats://127.0.0.1:3',
  consoleUrl: 'http://127.0.0.1:4',
  issuer: 'http://127.0.0.1:5',
  people: ['alice', 'bob'],
  operators: [],
  processes: { gateway: 10, wallet: 11 },
}

t.test('secrets are made once, differ from each other and are readable by the owner only', async (t) => {
  const dir = t.testdir()
  const secrets = stackSecrets(dir)
  t.same(stackSecrets(dir), secrets)
  t.equal(statSync(join(dir, 'secrets.json')).mode & 0o777, 0o600)
  const passwords = [secrets.postgres, ...[secrets.databaseRoles, secrets.nats, secrets.console].flatMap(Object.values)]
  t.equal(new Set(passwords).size, passwords.length)
})

t.test(
  'a folder of an earlier release goes on, with the secrets that are new and without the passwords of people',
  async (t) => {
    const dir = t.testdir()
    const { console: _, nats, ...others } = stackSecrets(dir)
    const { console: __, ...known } = nats
    const earlier = { ...others, nats: known, team: { alice: 'p-of-alice', bob: 'p-of-bob' } }
    const file = join(dir, 'secrets.json')
    writeFileSync(file, JSON.stringify(earlier))
    const secrets = stackSecrets(dir)
    t.match(secrets, { ...others, nats: { ...known, console: /^p/ }, console: { clientSecret: /^p/ } })
    t.notMatch(readFileSync(file, 'utf8'), 'p-of-alice')
    t.same(stackSecrets(dir), secrets)
  },
)

t.test('stack.json follows a restarted process and goes when the stack stops', async (t) => {
  const dir = t.testdir()
  const file = new StackFile(dir)
  file.updateProcess('wallet', 5)
  t.notOk(existsSync(stackFileIn(dir)), 'a stack that is not ready has no stack.json')
  file.publish(description)
  file.updateProcess('wallet', 12)
  t.same(readStack(stackFileIn(dir)), { ...description, processes: { gateway: 10, wallet: 12 } })
  t.equal(statSync(stackFileIn(dir)).mode & 0o777, 0o600)
  file.remove()
  t.throws(() => readStack(stackFileIn(dir)), /npm start/)
})

t.test('a folder left by a crash is taken over', async (t) => {
  const dir = t.testdir({ 'supervisor.pid': '999999999' })
  claimFolder(dir, false)
  releaseFolder(dir)
  t.notOk(existsSync(join(dir, 'supervisor.pid')))
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
