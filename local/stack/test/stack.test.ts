// proof: starts, kills and stops whole stacks. Every shared system of `npm test` is one that started.

import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { operations, teamConsole } from '@backoffice/contracts'
import { connectNats, RpcClient } from '@backoffice/rpc'
import { eventually, type StartedProcess, skipWithout, startProcess, temporaryFolder } from '@backoffice/test-kit'
import t, { type Test } from 'tap'
import { isRunning } from '../src/child.ts'
import { StackPerson } from '../src/identity/log-in.ts'
import { readStack, type StackDescription, stackFileIn } from '../src/stack-file.ts'

const run = promisify(execFile)

const mainFile = fileURLToPath(new URL('../src/main.ts', import.meta.url))

function startStack(t: Test, dir: string, ...args: string[]): StartedProcess {
  // The stack must not use the PostgreSQL of the test run: its own is under test here.
  const { POSTGRES_URL: _ours, NATS_URL: _theirs, ...others } = process.env
  const env = { ...others, LEAVE_WHEN_IDLE_MS: '500' }
  return startProcess(t, [process.execPath, mainFile, '--dir', dir, ...args], { env, endsBy: 'SIGTERM' })
}

/** Waits until the stack is ready. */
async function ready(stack: StartedProcess, dir: string): Promise<StackDescription> {
  await stack.until(() => existsSync(stackFileIn(dir)) && stack.printed().includes('Ctrl-C'))
  return readStack(stackFileIn(dir))
}

/** The printed request, pasted. */
async function pasteCurl(stack: StartedProcess): Promise<unknown> {
  const text = stack.printed()
  const from = text.indexOf('TIMESTAMP=')
  const curl = text.slice(from, text.indexOf('\n\n', from))
  return JSON.parse((await run('/bin/sh', ['-c', curl])).stdout)
}

t.test('one stack, from the first start to the second', async (t) => {
  const dir = temporaryFolder(t)
  const stack = startStack(t, dir, '--port', '0')
  const description = await ready(stack, dir)
  const pids = () => Object.values(readStack(stackFileIn(dir)).processes)

  await t.test('the printed request works when it is pasted', async (t) => {
    t.match(await pasteCurl(stack), { operator: { name: 'demo', environment: 'sandbox' }, brand: { isSandbox: true } })
  })

  // zsh is the shell of macOS. When it is typed into, it knows no comments, and its variable `path` is the PATH.
  for (const [shell, options] of [
    ['sh', []],
    ['zsh', ['-f', '-i']],
  ] as const) {
    const skip = skipWithout(shell, shell)
    await t.test(`the README's requests work when they are pasted into ${shell}`, { skip }, async (t) => {
      const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8')
      const script = /```sh\n(.*?)```/s.exec(readme)?.[1] ?? ''
      const docs = fileURLToPath(new URL('../../../docs', import.meta.url))
      const folder = t.testdir({ '.stack': t.fixture('symlink', dir), docs: t.fixture('symlink', docs) })
      const pasted = run(shell, options, { cwd: folder })
      pasted.child.stdin?.end(`${script}\napi GET "/withdrawals/$WITHDRAWAL"\n`)
      const { stdout } = await pasted
      const replies = (stdout.match(/\{.*\}/g) ?? []).map((line) => JSON.parse(line))
      t.match(replies[0], { operator: { name: 'demo' } })
      t.match(replies.at(-1), { amount: '40.00', status: 'under_review' })
    })
  }

  await t.test('ten processes run, and stack.json has their numbers', async (t) => {
    t.same(Object.keys(description.processes).sort(), [
      'console',
      'games',
      'gateway',
      'identity',
      'nats',
      'payments',
      'players',
      'postgres',
      'wallet',
      'webhooks',
    ])
    t.ok(pids().every(isRunning))
  })

  await t.test('the reconciler runs when somebody of the team calls it, and ends when nobody does', async (t) => {
    const { nats } = JSON.parse(readFileSync(join(dir, 'secrets.json'), 'utf8'))
    const login = { NATS_URL: description.natsUrl, NATS_USER: teamConsole, NATS_PASSWORD: nats[teamConsole] }
    const connection = await connectNats(login, { name: 'test' })
    t.teardown(() => connection.close())
    const { issuer, consoleUrl } = description
    const team = new RpcClient(
      connection,
      new StackPerson({ issuer, consoleUrl, person: 'alice', tool: 'command line' }),
    )
    const list = () => team.call(operations.reconciler.listReconciliations, { input: { limit: 1 } })
    const current = () => readStack(stackFileIn(dir)).processes.reconciler
    t.equal(current(), undefined, 'it does not run')
    t.same(await Promise.all([list(), list()]), [
      { data: [], nextCursor: null },
      { data: [], nextCursor: null },
    ])
    const pid = current() ?? 0
    t.ok(isRunning(pid))
    t.ok(await eventually(() => current() === undefined))
    t.notOk(isRunning(pid))
  })

  await t.test('the documentation is where it says', async (t) => {
    t.equal((await fetch(description.docsUrl)).status, 200)
  })

  await t.test('whatever is killed is started again, and stack.json tells its new number', async (t) => {
    // Each of another kind; what is left are services, as the gateway is one.
    for (const name of ['postgres', 'nats', 'identity', 'gateway'] as const) {
      const pid = description.processes[name] ?? 0
      process.kill(pid, 'SIGKILL')
      t.ok(await eventually(() => readStack(stackFileIn(dir)).processes[name] !== pid), name)
    }
    const answer = await eventually(async () => {
      const body = (await pasteCurl(stack)) as { operator?: { name: string } }
      return body.operator === undefined ? false : body
    })
    t.match(answer, { operator: { name: 'demo' } })
  })

  await t.test('a second stack in the same folder is refused, and says where the first one is', async (t) => {
    const second = startStack(t, dir, '--port', '0')
    t.equal(await second.ended, 1)
    t.match(second.printed(), description.baseUrl)
    t.ok(existsSync(stackFileIn(dir)), 'the first one is left alone')
  })

  await t.test('SIGTERM ends all of it', async (t) => {
    const all = pids()
    stack.child.kill('SIGTERM')
    t.equal(await stack.ended, 0)
    t.notOk(all.some(isRunning))
    t.notOk(existsSync(stackFileIn(dir)))
  })

  await t.test('the next start has the same data and the same operator', async (t) => {
    const again = startStack(t, dir, '--port', '0')
    const { operators } = await ready(again, dir)
    t.same(operators, description.operators)
    t.match(await pasteCurl(again), { operator: { name: 'demo' } })

    const all = pids()
    again.child.kill('SIGKILL')
    t.ok(await eventually(() => !all.some(isRunning)), 'nothing outlives a killed supervisor')
  })
})

t.test('a port that is taken is said, with what to do', async (t) => {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as { port: number }
  const stack = startStack(t, temporaryFolder(t), '--port', String(port))
  t.equal(await stack.ended, 1)
  t.match(stack.printed(), `Port ${port} is taken`)
  t.match(stack.printed(), '--port')
})
