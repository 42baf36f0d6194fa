import type { Command } from 'commander'
import t from 'tap'
import { program } from '../src/main.ts'
import { hours, integer, moment } from '../src/options.ts'
import { typed } from './typed.ts'

/** Every command that does something, by its words. */
function leaves(command: Command, words: readonly string[] = []): [string, Command][] {
  const commands = command.commands.filter(({ name }) => name.call(command) !== 'help')
  if (commands.length === 0) return [[words.join(' '), command]]
  return commands.flatMap((child) => leaves(child, [...words, child.name()]))
}

const all = leaves(program())
/** They call no operation. */
const own = ['login', 'logout', 'whoami', 'completion', 'audit verify']
const commands = new Map(all.filter(([words]) => !own.includes(words)))
const has = (command: string, option: string) =>
  commands.get(command)?.options.some(({ long }) => long === option) ?? false

t.test('every command speaks JSON; one that changes something takes an operation id and a reason', async (t) => {
  const reads =
    /(list|show|queue|count|export|reconcile|reconciliations|entries|sessions|search|show-document-url|homologation|collect|own|locked|key)$/
  // They show what is masked elsewhere.
  const readsForReason = ['players show', 'players export', 'players search']
  for (const command of commands.keys()) {
    t.ok(has(command, '--json'), command)
    t.equal(has(command, '--operation-id'), !reads.test(command), command)
    t.equal(has(command, '--reason'), !reads.test(command) || readsForReason.includes(command), command)
  }
})

t.test('nothing says who one is but the login: there is no option for it outside development', async (t) => {
  for (const command of commands.keys()) t.notOk(has(command, '--user') || has(command, '--actor-name'), command)
})

t.test('arguments that make no sense are refused with a sentence', async (t) => {
  t.equal(integer('--limit')('12'), 12)
  t.throws(() => integer('--limit')('-1'), /--limit takes a whole number/)
  t.equal(moment('2026-03-02'), '2026-03-02T00:00:00.000Z')
  t.throws(() => moment('soon'), /not a date/)
  t.strictSame(['24h', '30m', '2d', '0'].map(hours), [24, 0.5, 48, 0])
  t.throws(() => hours('a day'), /such as 24h or 30m/)
  for (const [words, sentence] of [
    [['kyc', 'queue', '--env', 'live'], '--env takes sandbox, production, or all, not live'],
    [['players', 'status', 'ply_1', 'gone', '--reason', 'x'], /--status takes ativo, .* or restrito, not gone/],
    [['kyc', 'decide', 'ply_1', '--reason', 'x'], /--status <status> is required/],
    [['operators', 'suspend'], /--name <name> is required/],
  ] as const) {
    const { error, sent } = await typed(words)
    t.match(error?.message, sentence)
    t.same(sent, [])
  }
})
