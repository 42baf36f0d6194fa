// In a process of its own: it sets up the telemetry of all of it.

import { AsyncLocalStorage } from 'node:async_hooks'
import { eventually, keptEvents, testBed } from '@backoffice/test-kit'
import { type Context, context, createContextKey, propagation, ROOT_CONTEXT } from '@opentelemetry/api'
import t from 'tap'
import { adding, addUp, payments } from '../probe-services.ts'

// The least that a trace needs: a context that follows the calls, with one value in it, carried as a header.
const key = createContextKey('trace of the test')
const storage = new AsyncLocalStorage<Context>()
context.setGlobalContextManager({
  active: () => storage.getStore() ?? ROOT_CONTEXT,
  with: (active, run, self, ...args) => storage.run(active, () => run.call(self as never, ...args)),
  bind: (_active, target) => target,
  enable() {
    return this
  },
  disable() {
    return this
  },
})
propagation.setGlobalPropagator({
  inject: (active, carrier, setter) => setter.set(carrier, 'trace', String(active.getValue(key) ?? 'none')),
  extract(active, carrier, getter) {
    const value = getter.get(carrier, 'trace')
    return value === undefined ? active : active.setValue(key, value)
  },
  fields: () => ['trace'],
})
const within = <T>(trace: string, run: () => T) => context.with(ROOT_CONTEXT.setValue(key, trace), run)

const bed = await testBed(t, { payments })
const scope = bed.scope()

async function traceOf(record: string): Promise<{ requestId: string; trace: string }> {
  const sent = `select message from ${keptEvents('payments')} where message #>> '{event,data,id}' = $1`
  const { rows } = await bed.sql('payments').query(sent, [`opn_${record}-0`])
  return rows[0].message.context
}

t.test('what a call sends belongs to its trace and request, also when many share a transaction', async (t) => {
  const numbers = Array.from({ length: 20 }, (_, index) => index)
  const call = (n: number | string) =>
    within(`trace ${n}`, () =>
      bed.rpc.call(addUp, {
        scope,
        input: { record: `record-${n}`, by: 1, sends: ['event'] },
        operationId: `opn_record-${n}`,
        requestId: `req_${n}`,
      }),
    )
  adding.during = async () => {
    adding.during = async () => {}
    await eventually(() => adding.prepared === 21)
  }
  await Promise.all([call('opener'), ...numbers.map(call)])
  t.ok(adding.batches.some(({ length }) => length > 10))
  for (const n of numbers) t.same(await traceOf(`record-${n}`), { requestId: `req_${n}`, trace: `trace ${n}` })
})
