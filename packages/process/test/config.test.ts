import { join } from 'node:path'
import { Type } from '@sinclair/typebox'
import t from 'tap'
import { ConfigurationError, loadConfig, programSettings, secret } from '../src/config.ts'

const connection = Type.Object({
  NATS_URL: Type.String({ minLength: 1 }),
  NATS_PASSWORD: Type.Optional(secret()),
  NATS_CA_FILE: Type.Optional(Type.String({ minLength: 1 })),
})
const schema = Type.Composite([
  connection,
  Type.Object({
    ...programSettings,
    DATABASE_URL: secret({ password: 'DATABASE_PASSWORD' }),
    DATABASE_PASSWORD: Type.Optional(secret()),
    DATABASE_POOL_MAX: Type.Integer({ minimum: 1, maximum: 200, default: 10 }),
    DEVELOPMENT: Type.Boolean({ default: false }),
    RATE: Type.Number({ minimum: 0.5 }),
    MODE: Type.Optional(Type.String({ pattern: '^[ab]$' })),
  }),
])
const complete = { DATABASE_URL: 'postgres://u:hunter2@h/d', NATS_URL: 'nats://h', RATE: '1.5' }

t.test('numbers and booleans are read, and what is absent has its default', async (t) => {
  const config = loadConfig(schema, { ...complete, DATABASE_POOL_MAX: '3', DEVELOPMENT: 'true', MODE: '' })
  t.match(config, { DATABASE_POOL_MAX: 3, DEVELOPMENT: true, RATE: 1.5, LOG_LEVEL: 'info', HEALTH_PORT: 0 })
  t.notOk('MODE' in config, 'an empty variable counts as absent')
})

t.test('every fault is reported at once, and no value', async (t) => {
  const environment = {
    NATS_URL: 'nats://h',
    DATABASE_POOL_MAX: 'many',
    LOG_LEVEL: 'loud',
    DEVELOPMENT: 'yes',
    MODE: 'hunter2',
    RATE: '0.1',
  }
  try {
    loadConfig(schema, environment)
    t.fail('was taken')
  } catch (error) {
    t.ok(error instanceof ConfigurationError)
    const text = String(error)
    for (const name of ['DATABASE_URL', 'DATABASE_POOL_MAX', 'LOG_LEVEL', 'DEVELOPMENT', 'MODE', 'RATE'])
      t.equal(text.split(`${name}: `).length, 2, `${name} is named once`)
    t.match(text, /DATABASE_URL: is required/)
    t.notMatch(text, /hunter2|many|loud/)
  }
})

/** What a refused configuration is refused with. */
function refusal(environment: Record<string, string>): string {
  try {
    loadConfig(schema, environment)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message
    throw error
  }
  throw new Error('was taken')
}

t.test('a secret may be in a file, whose last line feed is no part of it', async (t) => {
  const dir = t.testdir({
    'line-feed': 'hunter2\n',
    'two-lines': ' hunter2\n\n',
    windows: 'hunter2\r\n',
    bare: 'hunter2',
  })
  for (const [file, password] of [
    ['bare', 'hunter2'],
    ['line-feed', 'hunter2'],
    ['windows', 'hunter2'],
    ['two-lines', ' hunter2\n'],
  ] as const) {
    const config = loadConfig(schema, { ...complete, NATS_PASSWORD_FILE: join(dir, file), NATS_PASSWORD: '' })
    t.equal(config.NATS_PASSWORD, password, file)
  }
  t.equal(loadConfig(connection, { NATS_URL: 'x', NATS_PASSWORD_FILE: join(dir, 'bare') }).NATS_PASSWORD, 'hunter2')
  const own = Type.Composite([connection, Type.Object({ TOKEN: secret({ pattern: '^[a-z0-9]+$' }) })])
  t.equal(loadConfig(own, { NATS_URL: 'x', TOKEN_FILE: join(dir, 'bare') }).TOKEN, 'hunter2', 'also of a composite')
})

t.test('only a secret may: another variable that ends with _FILE is what it was', async (t) => {
  const file = join(t.testdir({ mode: 'a' }), 'mode')
  const config = loadConfig(schema, { ...complete, MODE_FILE: file, NATS_CA_FILE: file })
  t.notOk('MODE' in config)
  t.equal(config.NATS_CA_FILE, file)
})

t.test(
  'a file that is wrong is refused with the names of setting and file, and never with what is in it',
  async (t) => {
    const dir = t.testdir({ empty: '', 'empty-line': '\n', there: 'hunter2', wrong: 'hunter3', folder: {} })
    for (const [file, fault] of [
      ['empty', 'which is empty'],
      ['empty-line', 'which is empty'],
      ['absent', 'which cannot be read (ENOENT)'],
      ['folder', 'which cannot be read (EISDIR)'],
    ] as const) {
      const message = refusal({ ...complete, NATS_PASSWORD_FILE: join(dir, file) })
      t.equal(message.split('\n').at(-1), `  NATS_PASSWORD: NATS_PASSWORD_FILE names ${join(dir, file)}, ${fault}`)
    }
    const twice = refusal({ ...complete, NATS_PASSWORD: 'hunter2', NATS_PASSWORD_FILE: join(dir, 'there') })
    t.match(twice, 'NATS_PASSWORD: NATS_PASSWORD and NATS_PASSWORD_FILE are both set')
    const required = refusal({ NATS_URL: 'x', RATE: '1', DATABASE_URL_FILE: join(dir, 'absent') })
    t.match(required, /valid:\n {2}DATABASE_URL: .*ENOENT\)$/, 'one fault, and not that it is required too')
    const own = Type.Object({ TOKEN: secret({ pattern: '^[a-z]+$' }) })
    t.throws(() => loadConfig(own, { TOKEN_FILE: join(dir, 'wrong') }), { message: /TOKEN: expected string to match/ })
    for (const text of [twice, required]) t.notMatch(text, /hunter/)
  },
)

t.test('the password of a database may be apart from its URL, so that a file has nothing else', async (t) => {
  const password = 'a b:c@d/e?f#g%41'
  const file = join(t.testdir({ password: `${password}\n` }), 'password')
  const apart = { ...complete, DATABASE_URL: 'postgresql://u@h:5432/d?x=1' }
  for (const given of [{ DATABASE_PASSWORD: password }, { DATABASE_PASSWORD_FILE: file }]) {
    const url = new URL(loadConfig(schema, { ...apart, ...given }).DATABASE_URL)
    t.equal(decodeURIComponent(url.password), password)
    t.same([url.username, url.host, url.pathname, url.search], ['u', 'h:5432', '/d', '?x=1'])
  }
  t.equal(loadConfig(schema, apart).DATABASE_URL, apart.DATABASE_URL)
  t.match(
    refusal({ ...complete, DATABASE_PASSWORD: 'hunter2' }),
    'DATABASE_URL: has a password, and so has DATABASE_PASSWORD',
  )
  t.match(refusal({ ...complete, DATABASE_URL: 'hunter2', DATABASE_PASSWORD: 'x' }), /DATABASE_URL: is no URL$/)
})
