import { eventually, testBed } from '@backoffice/test-kit'
import t from 'tap'
import type { Step } from '../../src/database/db.ts'
import { addUp, payments, wallet } from '../probe-services.ts'

const seen: Step[] = []
let refuse = (_step: Step): Error | undefined => undefined
const bed = await testBed(
  t,
  { payments, wallet },
  {
    intercept: (name) => async (step, run) => {
      if (name !== 'payments') return run()
      seen.push(step)
      const refused = refuse(step)
      if (refused !== undefined) throw refused
      return run()
    },
  },
)
const scope = bed.scope()
const add = (record: string) =>
  bed.rpc.call(addUp, { scope, input: { record, by: 1, sends: ['command', 'event'] }, operationId: `opn_${record}` })

/** What the relay and the watch over the stream ask by themselves. */
const isBackground = ({ name }: Step) =>
  /with due as|stream_seen|max\(published_at\)|analyze_young|statement_timeout/.test(name)

t.test('an interceptor stands around each statement, commit, call and publication of a service', async (t) => {
  await bed.services.payments.db`select 1 as one`
  seen.length = 0
  await add('seen')
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

t.test('a step that an interceptor refuses is not taken', async (t) => {
  refuse = ({ kind }) => (kind === 'commit' ? new Error('no commits today') : undefined)
  await t.rejects(add('refused'), { code: 'INTERNAL_ERROR' })
  const { rows } = await bed.sql('payments').query("select from record where id = 'refused'")
  t.equal(rows.length, 0, 'the transaction is rolled back')
  refuse = () => undefined
  t.same(await add('refused'), { count: 1 })
})
