import { execFile } from 'node:child_process'
import { createServer, type IncomingMessage } from 'node:http'
import { promisify } from 'node:util'
import { signRequest } from '@backoffice/contracts'
import t from 'tap'
import { teamUsers } from '../src/identity/people.ts'
import { defaultPort, greeting, parseStackArguments, signedCurl } from '../src/terminal.ts'

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

const run = promisify(execFile)

t.test('the printed curl signs GET /me when it is pasted into a shell', async (t) => {
  const received: IncomingMessage[] = []
  const server = createServer((request, response) => {
    received.push(request)
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }

  const secret = 'sk_0123456789abcdef'
  const text = signedCurl(`http://127.0.0.1:${port}/api/v1`, { key: 'bk_test_abc', secret })
  await run('/bin/sh', ['-c', text])

  const [request] = received
  const timestamp = String(request?.headers['x-timestamp'])
  t.equal(request?.url, '/api/v1/me')
  t.equal(request?.headers['x-operator-key'], 'bk_test_abc')
  t.equal(
    request?.headers['x-signature'],
    signRequest(secret, { method: 'GET', path: '/api/v1/me', timestamp, body: '' }),
  )
})

t.test('the greeting says where the console is, and who may log in with which role', async (t) => {
  const where = { baseUrl: 'http://127.0.0.1:1/api/v1', docsUrl: 'http://127.0.0.1:1/api/v1/docs', postgresUrl: '' }
  const team = { consoleUrl: 'http://127.0.0.1:2', issuer: 'http://127.0.0.1:3', people: teamUsers }
  const text = greeting({ ...where, ...team, natsUrl: '', operators: [], processes: {} }, '1 s')
  t.match(text, 'http://127.0.0.1:2')
  t.match(text, 'alice or bob (every role), carla (compliance), felipe (finance)')
})

t.test('the greeting says how webhooks are listened to, also where the stack is not in its usual folder', async (t) => {
  const credentials = { key: 'bk_test_abc', secret: 'sk_abc', webhookSecret: 'whsec_abc' }
  const operators = [{ name: 'demo', sandbox: credentials, production: credentials }]
  const where = { baseUrl: 'http://127.0.0.1:1/api/v1', docsUrl: '', consoleUrl: '', postgresUrl: '', natsUrl: '' }
  const stack = { ...where, issuer: '', people: teamUsers, operators, processes: {} }
  t.match(greeting(stack, '1 s'), '\n\nnpm run listen\n')
  t.match(greeting(stack, '1 s', '/tmp/second'), "\n\nSTACK_JSON='/tmp/second/stack.json' npm run listen\n")
})
