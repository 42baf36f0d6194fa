import { Rejection } from '@backoffice/contracts'
import { captured } from '@backoffice/test-kit/captured'
import t from 'tap'
import { ConsoleUnreachable } from '../src/console-client.ts'
import { watch, watchSecondsOf } from '../src/watch.ts'
import { typed } from './typed.ts'

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
