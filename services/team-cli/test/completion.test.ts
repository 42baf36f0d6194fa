// proof: asks real shells. output.test.ts types every command.

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Rejection } from '@backoffice/contracts'
import { skipWithout, temporaryFolder } from '@backoffice/test-kit'
import { captured } from '@backoffice/test-kit/captured'
import t from 'tap'
import { ConsoleUnreachable } from '../src/console-client.ts'
import { program } from '../src/main.ts'
import { type Shell, shells } from '../src/own-commands.ts'
import { watch, watchSecondsOf } from '../src/run.ts'
import { typed } from './typed.ts'

const dir = temporaryFolder(t)

async function completion(shell: string) {
  const words = ['completion', shell]
  await (await program(words)).parseAsync(words, { from: 'user' })
}

async function scriptFor(shell: Shell): Promise<string> {
  const { stdout } = await captured(() => completion(shell))
  const file = join(dir, shell)
  writeFileSync(file, stdout)
  return file
}

/** What is typed, and some of what the shell then offers, and what it does not. */
const cases: readonly (readonly [typed: readonly string[], offered: readonly string[], not: readonly string[]])[] = [
  [['with'], ['withdrawals'], ['deposits']],
  [
    ['withdrawals', ''],
    ['queue', 'approve', 'pay'],
    ['withdrawals', 'decide'],
  ],
  [['--json', 'withdrawals', 'qu'], ['queue'], ['pay']],
  [['withdrawals', 'queue', '--env', ''], ['sandbox', 'production'], ['--watch']],
  [['withdrawals', 'queue', '--env', 'sandbox', '--wa'], ['--watch'], ['--env']],
  [['completion', ''], [...shells], ['queue']],
  [['nothing', 'of', 'this', ''], [], ['queue']],
]

t.test(
  'bash completes groups, commands, options and their values',
  { skip: skipWithout('bash', 'bash') },
  async (t) => {
    const script = await scriptFor('bash')
    for (const [typed, offered, not] of cases) {
      const words = typed.map((word) => `'${word}'`).join(' ')
      const line = `source ${script}; COMP_WORDS=(team ${words}); COMP_CWORD=${typed.length}; _team; printf '%s\\n' "\${COMPREPLY[@]}"`
      const found = execFileSync('bash', ['-c', line], { encoding: 'utf8' }).split('\n')
      for (const word of offered) t.ok(found.includes(word), `${typed.join(' ')}: ${word}`)
      for (const word of not) t.notOk(found.includes(word), `${typed.join(' ')}: not ${word}`)
    }
  },
)

t.test('zsh understands the script', { skip: skipWithout('zsh', 'zsh') }, async (t) => {
  const script = await scriptFor('zsh')
  t.equal(execFileSync('zsh', ['-n', script], { encoding: 'utf8' }), '')
})

t.test('another shell is refused with the names of those that there are', async (t) => {
  const { error } = await captured(() => completion('tcsh'))
  t.match(error?.message, /bash, zsh, fish/)
})

/** Watches something that answers these one after the other, and ends with the last. */
async function watched(answers: readonly (string | Error)[]) {
  const ended = new AbortController()
  const left = [...answers]
  const shown: string[] = []
  const look = async () => {
    const answer = left.shift() ?? ''
    if (left.length === 0) ended.abort()
    if (answer instanceof Error) throw answer
    return answer
  }
  const written = await captured(() =>
    watch({ look, show: (result) => shown.push(result), everyMs: 1, signal: ended.signal }),
  )
  return { shown, left, ...written }
}

t.test('what is watched is shown when it has changed', async (t) => {
  t.same((await watched(['a', 'a', 'b', 'b', 'a'])).shown, ['a', 'b', 'a'])
})

t.test('a fault that passes by itself is said, and looking goes on', async (t) => {
  const faults = [new ConsoleUnreachable('the console is away'), new Rejection('SERVICE_UNAVAILABLE')]
  const { shown, stderr, error } = await watched(['a', ...faults, 'b'])
  t.equal(error, undefined)
  t.same(shown, ['a', 'b'])
  t.match(stderr, /the console is away; trying again\n/)
})

t.test('a fault that stays ends it, and so does any fault of the first look', async (t) => {
  const stays = await watched(['a', new Rejection('ROLE_REQUIRED'), 'b'])
  t.match(stays.error, { code: 'ROLE_REQUIRED' })
  t.same(stays.left, ['b'])
  t.match((await watched([new ConsoleUnreachable('away'), 'b'])).error?.message, 'away')
})

t.test('only lists are watched, at whole seconds', async (t) => {
  t.equal(watchSecondsOf('30'), 30)
  for (const value of ['0', '-1', '1.5', 'often']) t.throws(() => watchSecondsOf(value), /--watch takes whole seconds/)
  const { error, sent } = await typed(['withdrawals', 'show', 'wdr_1', '--watch'])
  t.match(error?.message, /unknown option '--watch'/)
  t.same(sent, [])
})
