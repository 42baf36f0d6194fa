import t from 'tap'
import { teamUsers } from '../src/identity/people.ts'
import { defaultPort, greeting, parseStackArguments } from '../src/terminal.ts'

t.test(
  '--dir, --port, --fresh and --databases are understood; without them it is .stack, the default port, old data and one database',
  async (t) => {
    const given = { dir: '/tmp/x', port: 9000, fresh: true, databases: 2 }
    t.same(parseStackArguments(['--dir', '/tmp/x', '--port=9000', '--fresh', '--databases', '2']), given)
    t.match(parseStackArguments([]), { dir: /\.stack$/, port: defaultPort, fresh: false, databases: 1 })
  },
)

t.test('an argument that is unknown or malformed is refused with the usage', async (t) => {
  for (const args of [
    ['--prot', '1'],
    ['--port', '70000'],
    ['--port', 'x'],
    ['--port', ''],
    ['--databases', '3'],
    ['there'],
  ]) {
    t.throws(() => parseStackArguments(args), /--fresh/, args.join(' '))
  }
})

t.test('the greeting says where the console is, who may log in, and how webhooks are listened to', async (t) => {
  const credentials = { key: 'bk_test_abc', secret: 'sk_abc', webhookSecret: 'whsec_abc' }
  const where = { baseUrl: 'http://127.0.0.1:1/api/v1', docsUrl: '', consoleUrl: 'http://127.0.0.1:2', issuer: '' }
  const stack = {
    ...{ ...where, postgresUrl: '', natsUrl: '', people: teamUsers, processes: {} },
    operators: [{ name: 'demo', sandbox: credentials, production: credentials }],
  }
  const text = greeting(stack, '1 s')
  t.match(text, 'http://127.0.0.1:2')
  t.match(text, 'alice or bob (every role), carla (compliance), felipe (finance)')
  t.match(text, '\n\nnpm run listen\n')
  t.match(greeting(stack, '1 s', '/tmp/second'), "\n\nSTACK_JSON='/tmp/second/stack.json' npm run listen\n")
})
