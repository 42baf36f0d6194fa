import t from 'tap'
import { defaultPort, parseStackArguments } from '../src/arguments.ts'

t.test('without arguments the stack is .stack on the default port, and old data are kept', async (t) => {
  const { dir, port, fresh } = parseStackArguments([])
  t.match(dir, /\.stack$/)
  t.equal(port, defaultPort)
  t.equal(fresh, false)
})

t.test('--dir, --port and --fresh are understood', async (t) => {
  t.same(parseStackArguments(['--dir', '/tmp/x', '--port', '0', '--fresh']), { dir: '/tmp/x', port: 0, fresh: true })
  t.same(parseStackArguments(['--dir=/tmp/x', '--port=9000']), { dir: '/tmp/x', port: 9000, fresh: false })
})

t.test('an argument that is unknown or malformed is refused with the usage', async (t) => {
  for (const args of [['--prot', '1'], ['--port', '70000'], ['--port', 'x'], ['--port', ''], ['there']]) {
    t.throws(() => parseStackArguments(args), /--fresh/, args.join(' '))
  }
})
