import { allOperations, type Operation, runtimeOperationIds } from '@backoffice/contracts'
import t from 'tap'
import { commands } from './commands.ts'

t.test('every command of the operation table has its case', async (t) => {
  const tried = new Set(commands.map(({ operation }) => operation))
  // What the runtime gives to every service is tried in one of them.
  const isTriedElsewhere = ({ id, service }: Operation) =>
    service !== 'gateway' && (runtimeOperationIds as readonly string[]).includes(id)
  const missing = allOperations.filter(
    (operation) => operation.kind === 'command' && !tried.has(operation) && !isTriedElsewhere(operation),
  )
  t.same(
    missing.map(({ service, id }) => `${service}.${id}`),
    [],
  )
})
