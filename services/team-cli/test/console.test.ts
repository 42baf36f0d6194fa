import { execFile } from 'node:child_process'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { choosePerson, type TeamUser } from '@backoffice/local-stack'
import { eventually, sharedSystem } from '@backoffice/test-kit'
import { captured, type WrittenText } from '@backoffice/test-kit/captured'
import t from 'tap'
import { program } from '../src/main.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../../..', import.meta.url))
const dir = t.testdir()
const session = join(dir, 'session.json')

const system = await sharedSystem(t)
const { consoleUrl } = system

/** Where the command line finds its stack and its login, and what else a person has set. */
type Settings = Readonly<Record<string, string>>
const besideStack: Settings = { STACK_JSON: system.stackJson, TEAM_SESSION_FILE: session }
// Without a keychain: its own test has one.
const elsewhere: Settings = { ...besideStack, TEAM_CONSOLE_URL: consoleUrl, PATH: dir }
Object.defineProperty(process.stdin, 'isTTY', { value: false, configurable: true })

/** Runs a command in this process. */
async function team(
  settings: Settings,
  words: readonly string[],
  meanwhile: Meanwhile = () => {},
): Promise<WrittenText> {
  const before = Object.fromEntries(Object.keys(settings).map((name) => [name, process.env[name]]))
  Object.assign(process.env, settings)
  try {
    return await captured(async (soFar) => {
      const beside = Promise.resolve(meanwhile(soFar))
      // What goes wrong beside it shows in what the program says.
      await Promise.all([
        program(words).then((root) => root.parseAsync(words, { from: 'user' })),
        beside.catch(() => {}),
      ]).finally(() => beside.catch(() => {}))
    })
  } finally {
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}
type Meanwhile = (soFar: { readonly stderr: string }) => unknown

const json = async (settings: Settings, ...words: string[]) => {
  const { stdout, error } = await team(settings, [...words, '--json'])
  if (error !== undefined) throw error
  return JSON.parse(stdout)
}

/** A person in a browser: goes where the program says, chooses who they are, and comes back. */
async function inBrowser(soFar: { readonly stderr: string }, person: TeamUser | ''): Promise<Response> {
  const address = await addressIn(soFar)
  return fetch(await choosePerson(new URL(address), person as TeamUser))
}

const addressIn = (soFar: { readonly stderr: string }) =>
  eventually(() => /^http\S+$/m.exec(soFar.stderr)?.[0] ?? false)

const logInAs = (person: TeamUser) =>
  team(elsewhere, ['login', '--no-browser', '--json'], (soFar) => inBrowser(soFar, person))

t.test('beside npm start a script needs no login and no browser, and gets one JSON document', async (t) => {
  const words = ['run', '--silent', 'team', '--', 'operators', 'create', '--name', 'Casa Branca', '--json']
  const { stdout, stderr } = await run('npm', words, { cwd: root, env: { ...process.env, ...besideStack } })
  t.match(JSON.parse(stdout), { name: 'Casa Branca', sandbox: { key: /^bk_test_/ }, production: { secret: /^sk_/ } })
  t.match(stderr, /^operation opn_\w+\n$/)
  t.notOk(existsSync(session), 'and leaves no login behind')
})

t.test('--as and TEAM_USER choose a person, and their roles are theirs', async (t) => {
  t.match(await json(besideStack, 'whoami'), { name: 'alice', kind: 'person', console: consoleUrl })
  t.match(await json(besideStack, 'whoami', '--as', 'felipe'), { name: 'felipe', roles: ['finance'] })
  const sofia = { ...besideStack, TEAM_USER: 'sofia' }
  t.match(await json(sofia, 'whoami'), { name: 'sofia', roles: ['support'] })
  const refused = await team(sofia, ['operators', 'suspend', 'demo'])
  t.match(refused.error, { code: 'ROLE_REQUIRED', details: { roles: ['integration'] } })
  const nobody = await team(besideStack, ['whoami', '--as', 'mallory'])
  t.match(nobody.error?.message, /no person "mallory": it has alice, bob, /)
})

t.test('what takes two people is proposed by one and carried out by another', async (t) => {
  const words = ['credentials', 'issue', '--operator', 'demo', '--env', 'production', '--reason', 'rotation']
  const proposed = await json(besideStack, ...words)
  t.match(proposed, { state: 'proposed', proposalId: /^prp_/, proposedBy: 'alice' })
  const open = (await json(besideStack, 'proposals', 'list')) as readonly { readonly id: string }[]
  const found = open.find(({ id }) => id === proposed.proposalId)
  t.match(found, { service: 'gateway', operation: 'issueCredential', state: 'open' })
  const approve = ['proposals', 'approve', proposed.proposalId, '--reason', 'seen', '--yes']
  const own = await team(besideStack, approve)
  t.match(own.error, { code: 'TWO_PEOPLE_REQUIRED' })
  const collect = ['proposals', 'collect', proposed.proposalId]
  t.match((await team(besideStack, collect)).error?.message, 'nobody has agreed')
  t.match(await json(besideStack, ...approve, '--as', 'bob'), { environment: 'production', secret: null })
  t.match((await team(besideStack, [...collect, '--as', 'bob'])).error, { code: 'IDEMPOTENCY_CONFLICT' })
  t.match(await json(besideStack, ...collect), { environment: 'production', secret: /^sk_/ })
  t.match(await json(besideStack, ...collect), { environment: 'production', secret: null }, 'once')
  t.match(await json(besideStack, 'proposals', 'show', proposed.proposalId), { state: 'approved', decidedBy: 'bob' })
})

t.test('somebody who is not logged in is told how', async (t) => {
  const { error, stdout } = await team(elsewhere, ['operators', 'list'])
  t.match(error?.message, `you are not logged in at ${consoleUrl}: npm run team -- login`)
  t.equal(stdout, '')
})

t.test('a login in the browser is kept for the person alone, and ends with logout', async (t) => {
  const login = await logInAs('ines')
  t.equal(login.error, undefined)
  t.match(JSON.parse(login.stdout), { console: consoleUrl, name: 'ines@backoffice.example' })
  t.equal(statSync(session).mode & 0o777, 0o600)

  t.match(await json(elsewhere, 'whoami'), { name: 'ines', roles: ['integration'], endsAt: /^\d{4}-/ })
  const { loggedInAt, endsAt } = await json(elsewhere, 'whoami')
  const hours = (Date.parse(endsAt) - Date.parse(loggedInAt)) / 3_600_000
  t.equal(Math.floor(hours), 1, 'in clear it lives for an hour, which begins when the login was handed over')
  t.match(await json(elsewhere, 'operators', 'create', '--name', 'Casa Nova'), { name: 'Casa Nova' })
  const refused = await team(elsewhere, ['withdrawals', 'pay', 'wdr_1', '--yes'])
  t.match(refused.error, { code: 'ROLE_REQUIRED' })

  const other = await team(elsewhere, ['audit', 'list', '--as', 'andre'])
  t.match(other.error?.message, /on a developer's machine only/, 'a login is for one person')
  const copy = readFileSync(session)
  t.match(await json(elsewhere, 'logout'), { loggedOut: true })
  t.notOk(existsSync(session))
  t.match((await team(elsewhere, ['whoami'])).error?.message, /not logged in/)
  t.match(await json(elsewhere, 'logout'), { loggedOut: false })

  writeFileSync(session, copy)
  const copied = await team(elsewhere, ['operators', 'list'])
  t.match(
    copied.error,
    { code: 'LOGIN_REQUIRED', details: { reason: 'session ended' } },
    'a copy of the file is worth nothing',
  )
  t.match(await json(elsewhere, 'logout'), { loggedOut: true }, 'to end it again is no fault')
})

t.test('a person ends all of their sessions, and is locked by their name', async (t) => {
  await logInAs('carla')
  const own = await json(elsewhere, 'sessions', 'own')
  t.match(own, [{ client: 'backoffice-cli' }])
  const copy = readFileSync(session)
  t.match(await json(elsewhere, 'logout', '--everywhere'), { loggedOut: true })
  writeFileSync(session, copy)
  t.match((await team(elsewhere, ['sessions', 'own'])).error, { code: 'LOGIN_REQUIRED' })

  t.match(await json(elsewhere, 'logout'), { loggedOut: true })

  const lock = ['sessions', 'lock', 'carla', '--reason', 'her laptop was stolen', '--yes']
  const { member } = await json(besideStack, ...lock)
  t.match(member, / carla$/)
  t.match(await json(besideStack, 'sessions', 'locked'), [{ member }])
  const refused = await team(besideStack, ['proposals', 'list', '--as', 'carla'])
  t.match(refused.error, { code: 'LOGIN_REQUIRED', details: { reason: 'locked' } })
  const { proposalId } = await json(besideStack, 'sessions', 'unlock', member, '--reason', 'a new one', '--yes')
  await json(besideStack, 'proposals', 'approve', proposalId, '--as', 'bob', '--reason', 'seen', '--yes')
  t.same(await json(besideStack, 'sessions', 'locked'), [])
  t.match(
    (await team(besideStack, ['sessions', 'lock', 'nobody', '--reason', 'x', '--yes'])).error?.message,
    /nobody called/,
  )
})

t.test('whoever cancels at the provider is not logged in, in the terminal and in the browser', async (t) => {
  let page: Response | undefined
  const { error, stdout } = await team(elsewhere, ['login', '--no-browser'], async (soFar) => {
    page = await inBrowser(soFar, '')
  })
  t.match(error?.message, /the identity provider refused/)
  t.equal(stdout, '')
  t.equal(page?.status, 400)
  t.notOk(existsSync(session))
})

t.test('an answer to another login, which anybody on this machine could send, does not end this one', async (t) => {
  let other: Response | undefined
  const login = await team(elsewhere, ['login', '--no-browser', '--json'], async (soFar) => {
    const redirect = new URL(await addressIn(soFar)).searchParams.get('redirect_uri')
    other = await fetch(`${redirect}?state=another&error=access_denied`)
    await inBrowser(soFar, 'sofia')
  })
  t.equal(other?.status, 404)
  t.equal(login.error, undefined)
  t.match(await json(elsewhere, 'whoami'), { name: 'sofia' })
  t.match(await json(elsewhere, 'logout'), { loggedOut: true })
})

t.test('a machine signs with a key of its own, and does what its roles allow', async (t) => {
  const machine = { ...elsewhere, TEAM_MACHINE_NAME: 'nightly', TEAM_MACHINE_KEY_FILE: system.machineKeyFile }
  t.match(await json(machine, 'whoami'), { kind: 'machine', name: 'nightly', roles: ['auditor'], endsAt: null })
  const operators = (await json(machine, 'operators', 'list')) as readonly { readonly name: string }[]
  t.ok(operators.some(({ name }) => name === 'demo'))
  const refused = await team(machine, ['operators', 'suspend', 'demo'])
  t.match(refused.error, { code: 'ROLE_REQUIRED' })
  const stranger = await team({ ...machine, TEAM_MACHINE_NAME: 'daily' }, ['operators', 'list'])
  t.match(stranger.error, { code: 'LOGIN_REQUIRED' })
})

t.test(
  'a machine that knows the identity provider verifies who signed a proposal, and another says that it does not',
  async (t) => {
    const byPerson = ['credentials', 'issue', '--operator', 'demo', '--env', 'production', '--reason', 'a new server']
    const { proposalId } = await json(besideStack, ...byPerson, '--as', 'alice')
    const machine = { ...elsewhere, TEAM_MACHINE_NAME: 'nightly', TEAM_MACHINE_KEY_FILE: system.machineKeyFile }
    const knowing = { ...machine, TEAM_ISSUER: system.issuer }
    t.match(await json(knowing, 'proposals', 'show', proposalId), { signature: 'by alice, verified' })
    t.match(await json(machine, 'proposals', 'show', proposalId), { signature: /^not proven: .*TEAM_ISSUER/ })
    await team(besideStack, ['proposals', 'decline', proposalId, '--reason', 'shown', '--as', 'alice'])
  },
)

t.test('an ID token goes to no other address than a console over TLS, or on this machine', async (t) => {
  for (const address of ['http://console.example', 'ftp://console.example', 'console'])
    t.match(
      (await team({ ...besideStack, TEAM_CONSOLE_URL: address }, ['whoami'])).error?.message,
      /begins with https:/,
    )
  const refused = await team(besideStack, ['login', '--no-browser', '--console', 'http://127.0.0.1:1'])
  t.match(refused.error?.message, /the console at http:\/\/127.0.0.1:1 cannot be reached/)
})
