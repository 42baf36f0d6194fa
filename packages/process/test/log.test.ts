import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { createLogger } from '../src/log.ts'
import { maskLiterals, withoutQuery } from '../src/telemetry/sdk.ts'

function logger() {
  const lines: string[] = []
  return { lines, log: createLogger('probe', 'info', { write: (line: string) => lines.push(line) }) }
}

t.test('secrets and personal data are struck out', async (t) => {
  const { log, lines } = logger()
  log.info({ secret: 's3cret', player: { cpf: '52998224725', email: 'ana@example.com' }, playerId: 'ply_1' }, 'seen')
  t.match(JSON.parse(lines[0] ?? ''), { msg: 'seen', playerId: 'ply_1', name: 'probe' })
  t.notMatch(lines[0], /s3cret|52998224725|ana@/)
})

t.test('other errors keep message, place and cause', async (t) => {
  const { log, lines } = logger()
  log.error({ err: new Error('outer', { cause: new TypeError('inner') }) }, 'failed')
  t.match(JSON.parse(lines[0] ?? ''), { err: { message: 'outer', stack: /log\.test/, cause: { message: 'inner' } } })
})

t.test('lines of two loggers keep their order, and none is missing when the process exits at once', async (t) => {
  const program = `
    import { createLogger } from '${new URL('../src/log.ts', import.meta.url)}'
    const [one, other] = [createLogger('one', 'info'), createLogger('other', 'info')]
    one.info('first')
    other.fatal('second')
    one.info('third')
    process.exit(0)`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  const messages = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line).msg)
  t.strictSame(messages, ['first', 'second', 'third'])
})

t.test('a statement keeps its shape and loses its values', async (t) => {
  const cases = [
    [
      "insert into player (id, name, cpf) values ('ply_1', 'O''Neil', 52998224725)",
      'insert into player (id, name, cpf) values (?, ?, ?)',
    ],
    ['select * from t1 where a = $1 and b = 12.50', 'select * from t1 where a = $1 and b = ?'],
    ['update "delivery" d set attempts_made = 3', 'update "delivery" d set attempts_made = ?'],
    ["select ''", 'select ?'],
  ] as const
  for (const [sql, masked] of cases) t.equal(maskLiterals(sql), masked)
})

t.test('a URL loses what stands behind its path', async (t) => {
  t.equal(withoutQuery('https://example.com/hook?token=1#a'), 'https://example.com/hook')
  t.equal(withoutQuery('https://example.com/hook#a?b'), 'https://example.com/hook')
  t.equal(withoutQuery('https://example.com/hook'), 'https://example.com/hook')
})
