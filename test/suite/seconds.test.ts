import t from 'tap'
import { grown } from './seconds.ts'

const before = { a: 10, b: 20, c: 30, d: 1 }

t.test('a file that takes half as long again is named', async (t) => {
  t.same(grown({ a: 10, b: 20, c: 60, d: 1 }, before), ['c  60 s, expected 30 s'])
})

t.test('a slower machine makes all files longer, which is no news', async (t) => {
  t.same(grown({ a: 20, b: 40, c: 60, d: 2 }, before), [])
  t.same(grown({ a: 20, b: 40, c: 110, d: 2 }, before), ['c  110 s, expected 60 s'])
})

t.test('neither a second or two nor a new file is worth a word', async (t) => {
  t.same(grown({ a: 10, b: 20, c: 30, d: 4, e: 50 }, before), [])
})
