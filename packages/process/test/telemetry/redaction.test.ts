import t from 'tap'
import { maskLiterals, withoutQuery } from '../../src/telemetry/redaction.ts'

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
