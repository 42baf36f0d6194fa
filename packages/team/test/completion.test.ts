import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { skipWithout } from '@backoffice/test-kit'
import { captured } from '@backoffice/test-kit/captured'
import t from 'tap'
import { type Shell, shells } from '../src/completion.ts'
import { program } from '../src/main.ts'

const dir = mkdtempSync(join(tmpdir(), 'backoffice-completion-'))
t.teardown(() => rmSync(dir, { recursive: true, force: true }))

async function scriptFor(shell: Shell): Promise<string> {
  const { stdout } = await captured(() => program().parseAsync(['completion', shell], { from: 'user' }))
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

t.test('fish completes the same, and says what each is', { skip: skipWithout('fish', 'fish') }, async (t) => {
  const script = await scriptFor('fish')
  const env = { ...process.env, XDG_CONFIG_HOME: dir, XDG_DATA_HOME: dir }
  for (const [typed, offered, not] of cases) {
    const line = `source ${script}; complete -C 'team ${typed.join(' ')}'`
    const shown = execFileSync('fish', ['--no-config', '-c', line], { encoding: 'utf8', env })
    const found = shown.split('\n').map((text) => text.split('\t')[0] ?? '')
    for (const word of offered) t.ok(found.includes(word), `${typed.join(' ')}: ${word}`)
    for (const word of not) t.notOk(found.includes(word), `${typed.join(' ')}: not ${word}`)
    if (typed[0] === 'with') t.match(shown, 'Withdrawals: the review queue')
  }
})

t.test('zsh understands the script', { skip: skipWithout('zsh', 'zsh') }, async (t) => {
  const script = await scriptFor('zsh')
  t.equal(execFileSync('zsh', ['-n', script], { encoding: 'utf8' }), '')
})

t.test('another shell is refused with the names of those that there are', async (t) => {
  const { error } = await captured(() => program().parseAsync(['completion', 'tcsh'], { from: 'user' }))
  t.match(error?.message, /bash, zsh, fish/)
})
