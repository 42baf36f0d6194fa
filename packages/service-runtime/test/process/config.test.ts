import { Type } from '@sinclair/typebox'
import t from 'tap'
import { ConfigurationError, loadConfig, serviceConfig } from '../../src/process/config.ts'

const schema = Type.Composite([
  serviceConfig,
  Type.Object({ RATE: Type.Number({ minimum: 0.5 }), MODE: Type.Optional(Type.String({ pattern: '^[ab]$' })) }),
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
