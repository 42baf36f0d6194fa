// proof: asks all services and their PostgreSQL what the guides tell people to ask.

import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { operations, Rejection } from '@backoffice/contracts'
import { program } from '@backoffice/team-cli'
import { Session } from '@backoffice/team-cli/session'
import { skipWithout, temporaryFolder, testBed } from '@backoffice/test-kit'
import { captured } from '@backoffice/test-kit/captured'
import t from 'tap'
import { services } from '../services.ts'
import { type GuideCommand, sections } from './guide.ts'

const commands = sections.flatMap((section) => section.commands)
const skip = skipWithout('psql', 'postgresql-client')

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
          await captured(async () => {
            const root = await program(words, async () => new Session({ call } as never))
            await root.exitOverride().parseAsync([...words, ...options], { from: 'user' })
          })
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
