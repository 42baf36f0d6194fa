// proof: types the commands of the guide that need no API server, on all services with real backends.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { operations, Rejection } from '@backoffice/contracts'
import { natsServerBinary } from '@backoffice/dev-stack'
import { program } from '@backoffice/team'
import { Session } from '@backoffice/team/session'
import { eventually, freePort, skipWithout, temporaryFolder, testBed } from '@backoffice/test-kit'
import { captured } from '@backoffice/test-kit/captured'
import { jetstreamManager } from '@nats-io/jetstream'
import { connect } from '@nats-io/transport-node'
import t from 'tap'
import { services } from '../services.ts'
import { type GuideCommand, sections } from './guide.ts'

const commands = sections.flatMap((section) => section.commands)
const skip = skipWithout('psql', 'postgresql-client') || skipWithout('jq', 'jq')

/** Types a line, and passes on what it prints. */
async function typed(line: string, environment: Readonly<Record<string, string>> = {}) {
  const env = { ...process.env, ...environment }
  const shell = spawn('timeout', ['60', 'sh', '-c', `exec 2>&1\n${line}`], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<number>((resolve) => shell.once('close', (status) => resolve(status ?? 1)))
  const printed = await text(shell.stdout)
  return { status: await ended, printed }
}

/** What is behind `→`, without what may be anything. */
const shown = ({ shows = '' }: GuideCommand) => shows.replaceAll('…', '').trim()

t.test('on all services, with the schema of today', { skip }, async (t) => {
  const bed = await testBed(t, services, { config: { reconciler: { HEADS_EXPORT_DIR: temporaryFolder(t) } } })

  t.test('each question to PostgreSQL is one that it answers', async (t) => {
    await bed.sql('admin').query(`
      insert into webhooks.missing_delivery values ('evt_1', 'payments', now(), now())`)
    const client = await bed.sql('admin').connect()
    const [{ pid }] = (await client.query('select pg_backend_pid() as pid')).rows
    // The guide ends this one.
    client.on('error', () => {})
    const questions = commands.filter(({ text: line }) => line.startsWith('kubectl cnpg psql') && !line.includes('…'))
    t.ok(questions.length > 10, `${questions.length} questions`)
    for (const question of questions) {
      const line = question.text.replace(/^kubectl cnpg psql .*?-- (?:-d backoffice )?/, `psql '${bed.databaseUrl}' `)
      const { status, printed } = await typed(line, { PID: String(pid), EVENT: 'evt_1' })
      t.equal(status, 0, `${question.text}: ${printed}`)
      t.ok(printed.includes(shown(question)), `${question.text}: ${printed}`)
    }
    client.release(true)
  })

  t.test("each of the team's commands is one that the command line and the services understand", async (t) => {
    const machine = bed.machine()
    // Only who was here can be locked out.
    await bed.team('bob').call(operations.gateway.listOperators, { input: {} })
    const call = (operation: never, options: never) => machine.call(operation, options)
    const given: Readonly<Record<string, string>> = {
      operator: 'Casa Azul',
      name: 'bob',
      command: 'cmd_1',
      key: 'bk_live_1',
    }
    const lines = [
      ...new Set(commands.filter(({ text: line }) => / team -- [a-z]/.test(line)).map(({ text: line }) => line)),
    ]
    t.ok(lines.length > 20, `${lines.length} commands`)
    for (const line of lines) {
      // Logging in takes a browser, and verifying a file; both have tests of their own.
      if (/ (login|audit verify) /.test(line)) continue
      const [, written = ''] = / team -- (.*?)(?: [|>] .*)?$/.exec(line) ?? []
      const words = [...written.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word = '']) => {
        const known = /^<(\w+)>$/.exec(word)?.[1]
        if (quoted !== undefined) return quoted
        if (known !== undefined) return given[known] ?? known
        return { N: 'Casa Azul', E: 'sandbox', '…': '2026-03-02T12:00:00.000Z' }[word] ?? word
      })
      const run = async (options: readonly string[]) =>
        (
          await captured(() =>
            program(async () => new Session({ call } as never))
              .exitOverride()
              .parseAsync([...words, ...options], { from: 'user' }),
          )
        ).error
      // Most ask nothing.
      const first = await run(['--yes'])
      const error = first?.message.includes("'--yes'") ? await run([]) : first
      const isUnderstood = error === undefined || error instanceof Rejection
      t.ok(isUnderstood, `${words.join(' ')}: ${error?.message}`)
      // What is no restore is refused as one; everything else is of the right form.
      if (error instanceof Rejection && words[1] !== 'record-restore') {
        t.not(error.code, 'VALIDATION_ERROR', words.join(' '))
        t.not(error.code, 'INTERNAL_ERROR', words.join(' '))
      }
    }
  })
})

t.test('what the monitoring port of NATS shows is what the guide asks it for', { skip }, async (t) => {
  const [port, monitoring] = [await freePort(), await freePort()]
  const args = ['-a', '127.0.0.1', '-p', String(port), '-m', String(monitoring), '-js', '-sd', temporaryFolder(t)]
  const server = spawn(await natsServerBinary(), args, { stdio: 'ignore' })
  t.teardown(() => server.kill())
  const connection = await eventually(() => connect({ port }))
  t.teardown(() => connection.close())
  const manager = await jetstreamManager(connection)
  await manager.streams.add({ name: 'EVENTS', subjects: ['events.>'] })
  await manager.consumers.add('EVENTS', { durable_name: 'webhooks-schedule-delivery' })
  const looks = commands.filter(({ text: line }) => /^curl .*localhost:8222/.test(line))
  t.ok(looks.length >= 4)
  for (const { text: line } of looks) {
    const { status, printed } = await typed(line.replace('8222', String(monitoring)))
    t.equal(status, 0, line)
    if (line.includes('healthz')) t.match(printed, '"ok"')
    if (line.includes('jsz')) t.match(printed, '"EVENTS"', line)
    if (line.includes('consumers=true')) t.match(printed, '"webhooks-schedule-delivery"', line)
    if (line.includes('connz')) t.match(printed, '127.0.0.1', line)
  }
})

t.test('what a person has on their own machine answers', { skip }, async (t) => {
  const random = await typed('openssl rand -base64 32')
  t.equal(Buffer.from(random.printed.trim(), 'base64').length, 32)
  const recorded = [
    { event: 'refused', operatorId: 'op_…', code: 'INVALID_SIGNATURE', address: '192.0.2.7' },
    { event: 'refusals', codes: { INVALID_CREDENTIALS: 3 }, address: '192.0.2.8', count: 3 },
    { event: 'request', keyId: 'bk_live_…', address: '192.0.2.9', operation: 'createDeposit', status: 201 },
  ]
  const lines = commands.filter(({ text: line }) => line.startsWith('jq') && line.includes('gateway.log'))
  t.equal(lines.length, 3)
  const input = recorded.map((line) => JSON.stringify(line)).join('\n')
  for (const [index, { text: line }] of lines.entries()) {
    const { status, printed } = await typed(`printf '%s' "$LOG" | ${line.replace('gateway.log', '')}`, { LOG: input })
    t.equal(status, 0, line)
    t.match(printed, recorded[index]?.address, line)
  }
})
