import t from 'tap'
import { findNamedMutants, namedMutants } from './named.ts'

t.test('each guard stands in the sources as its mutant knows it, and has its test', async (t) => {
  t.equal(findNamedMutants().length, namedMutants.length)
})
