import { allOperations } from '@backoffice/contracts'
import t from 'tap'
import { commands } from './commands.ts'

t.test('every command of the operation table has its case', async (t) => {
  const tried = new Set(commands.map(({ operation }) => operation))
  const missing = allOperations.filter((operation) => operation.kind === 'command' && !tried.has(operation))
  t.same(
    missing.map(({ service, id }) => `${service}.${id}`),
    [],
  )
})
