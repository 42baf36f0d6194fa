import t from 'tap'
import { Progress } from '../src/progress.ts'
import { systemTimers, type Timers } from '../src/time.ts'

/** A terminal, or what is none, and a clock that is set. */
function screenOf(isTTY: boolean) {
  const written: string[] = []
  const screen = { isTTY, columns: 60, write: (text: string) => written.push(text) }
  const ticks = new Set<() => void>()
  const timers: Timers & { ms: number } = {
    ...systemTimers,
    ms: 0,
    monotonic: () => timers.ms,
    setTimeout(run) {
      ticks.add(run)
      return run
    },
    clearTimeout: (timer) => void ticks.delete(timer as () => void),
  }
  return {
    ...{ progress: new Progress('export', { screen, timers }), ticks, timers },
    shown: () => written.splice(0).join('').replaceAll('\r\u001b[K', '|'),
  }
}

t.test('a terminal shows in one line what is under way, how far it is and how long it still takes', async (t) => {
  const { progress, timers, ticks, shown } = screenOf(true)
  timers.ms = 10_000
  progress.at('1,000 rows', 0.25)
  t.equal(shown(), '|export: 1,000 rows, 10 s, 25 %, some 30 s left')
  timers.ms += 50
  progress.at('1,001 rows', 0.25)
  t.equal(shown(), '', 'not for each row')
  timers.ms = 12_000
  for (const tick of [...ticks]) tick()
  t.equal(shown(), '|export: 1,001 rows, 12 s, 25 %, some 36 s left', 'it goes on while nothing new is known')
  timers.ms = 600_000
  progress.at('3,000 rows', 0.75)
  t.equal(shown(), '|export: 3,000 rows, 10 min, 75 %, some 3 min left')
  timers.ms += 1_000
  progress.at('3,001 rows')
  t.equal(shown(), '|export: 3,001 rows, 10 min', 'where nobody knows how much there is')
  progress.above(() => t.equal(shown(), '|', 'the line gives way'))
  t.equal(shown(), 'export: 3,001 rows, 10 min', 'and comes back')
  timers.ms += 1_000
  progress.at('x'.repeat(100))
  t.equal(shown().length, 60, 'it stays one line')
  progress[Symbol.dispose]()
  t.equal(shown(), '|')
  t.equal(ticks.size, 0)
})

t.test('a file or a program gets nothing of it', async (t) => {
  const { progress, ticks, shown } = screenOf(false)
  progress.at('1,000 rows', 0.25)
  let written = false
  progress.above(() => {
    written = true
  })
  progress[Symbol.dispose]()
  t.equal(shown(), '')
  t.equal(ticks.size, 0)
  t.ok(written, 'but what stays')
})
