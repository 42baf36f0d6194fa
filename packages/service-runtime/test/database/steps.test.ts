import type { Step } from '@backoffice/database'
import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import { callsOn } from '../probe-calls.ts'
import { payments, wallet } from '../probe-services.ts'

const seen: Step[] = []
const bed = await testBed(
  t,
  { payments, wallet },
  {
    intercept: (name) => (step, run) => {
      if (name === 'payments') seen.push(step)
      return run()
    },
  },
)

/** What the relay and the watch over the stream ask by themselves. */
const isBackground = ({ name }: Step) =>
  /with due as|stream_seen|max\(published_at\)|analyze_young|statement_timeout/.test(name)

t.test('an interceptor stands around each statement, commit, call and publication of a service', async (t) => {
  await bed.services.payments.db`select 1 as one`
  seen.length = 0
  await callsOn(bed).add({ record: 'seen', sends: ['command', 'event'] })
  await eventually(() => seen.some(({ kind }) => kind === 'publish'))
  const steps = seen.filter((step) => !isBackground(step))
  const inTransaction = steps.filter(({ transaction }) => transaction !== undefined)
  t.equal(new Set(inTransaction.map(({ transaction }) => transaction)).size, 1)
  t.ok(inTransaction.length > 3)
  t.equal(inTransaction.at(-1)?.kind, 'commit')
  const after = steps.slice(steps.findIndex(({ kind }) => kind === 'commit') + 1)
  t.same(
    after.slice(0, 3).map(({ kind, name }) => (kind === 'statement' ? name.trim().slice(0, 13) : `${kind} ${name}`)),
    ['call wallet.creditAccount', 'with done as ', 'publish deposit.confirmed'],
  )
})
