import t from 'tap'
import { originOf, sharesOf } from '../../src/profile/table.ts'

t.test('time is told by where a function comes from', async (t) => {
  t.equal(originOf('query', 'file:///srv/node_modules/pg/lib/client.js'), 'pg')
  t.equal(originOf('parse', 'file:///srv/node_modules/a/node_modules/@b/c/index.js'), '@b/c')
  t.equal(originOf('save', 'file:///srv/services/payments/src/storage/deposits.ts'), 'services/payments/src/storage')
  t.equal(originOf('main', 'file:///srv/services/payments/src/main.ts'), 'services/payments/src/main')
  t.equal(originOf('writev', ''), 'socket writes')
  t.equal(originOf('(garbage collector)', ''), 'garbage collector')
  t.equal(originOf('emit', 'node:events'), 'Node')
})

t.test('shares are of the time that a process was busy', async (t) => {
  const frame = (id: number, functionName: string, url = '') => ({ id, callFrame: { functionName, url } })
  const shares = sharesOf({
    nodes: [frame(1, '(idle)'), frame(2, 'query', 'file:///srv/node_modules/pg/lib/client.js'), frame(3, 'writev')],
    samples: [1, 2, 3, 2],
    timeDeltas: [900, 30, 25, 45],
  })
  t.same(
    [...shares],
    [
      ['pg', 0.75],
      ['socket writes', 0.25],
    ],
  )
  t.same([...sharesOf({ nodes: [] })], [])
})
