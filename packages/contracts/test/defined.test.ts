import t from 'tap'
import { defined } from '../src/index.ts'

t.test('what is undefined is left out; null, zero and false stay', async (t) => {
  t.strictSame(defined({ a: undefined, b: null, c: 0, d: false, e: '' }), { b: null, c: 0, d: false, e: '' })
  t.notOk('a' in defined({ a: undefined }))
})
