import { hourMs, newId } from '@backoffice/process'
import { eventually, holdOpen, lockIsAwaited, type TestBed } from '@backoffice/test-kit'
import { ROOT_CONTEXT } from '@opentelemetry/api'
import { adding, addUp, crediting, type payments } from './probe-services.ts'

export interface AddInput {
  readonly record: string
  readonly by?: number
  readonly sends?: ('event' | 'command')[]
  readonly about?: string
}

export const records = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name} ${index}`)

/** What tests of commands do with a bed of the probe services. */
export function callsOn(bed: TestBed<{ readonly payments: typeof payments }>) {
  const scope = bed.scope()
  let opened = 0
  const add = (input: AddInput, operationId = newId('opn'), deadline?: Date) =>
    bed.rpc.call(addUp, {
      scope,
      input: { by: 1, ...input },
      operationId,
      ...(deadline === undefined ? {} : { deadline }),
    })
  return {
    scope,
    add,
    async countOf(record: string): Promise<number | undefined> {
      const { rows } = await bed.sql('payments').query('select count from record where id = $1', [record])
      return rows[0]?.count
    },
    /** Of an aggregate, or all. */
    async unsent(aggregate?: string): Promise<readonly { readonly kind: 'event' | 'command' }[]> {
      const query = 'select kind from outbox where aggregate = coalesce($1, aggregate) order by aggregate_seq'
      return (await bed.sql('payments').query(query, [aggregate])).rows
    },
    /** Holds a batch open until so many more calls wait; they form the next one. @param meanwhile called while they wait */
    async gather<T>(count: number, call: () => T, meanwhile = () => {}): Promise<T> {
      const until = adding.prepared + 1 + count
      adding.during = async () => {
        adding.during = async () => {}
        await eventually(() => adding.prepared >= until)
        meanwhile()
      }
      const batches = adding.batches.length
      const opener = add({ record: `opener ${opened++}` })
      await eventually(() => adding.batches.length > batches)
      const called = call()
      await opener
      return called
    },
    /** Locks records as a process does that hangs in the middle of a batch. */
    async lock(names: readonly string[]): Promise<() => Promise<void>> {
      const statement = 'select from payments.record where id = any($1) for update'
      return (await holdOpen(bed.sql('admin'), statement, [names])).rollback
    },
    /** Resolves once so many sessions wait for a lock. */
    lockIsAwaited: (count = 1) => lockIsAwaited(bed.sql('admin'), { count }),
  }
}

/** An attempt as the runner adds it to the batches of `addUp`. */
export const attemptOn = (record: string, call: object = {}) =>
  ({
    operation: addUp,
    call: {
      input: { record, by: 1 },
      operationId: newId('opn'),
      requestId: 'req',
      deadline: new Date(Date.now() + hourMs),
      ...call,
    },
    fingerprint: record,
    preparation: { is: 'prepared', value: undefined },
    byTeam: false,
    owner: 'x',
    bytes: 1,
    trace: ROOT_CONTEXT,
  }) as never

/** Holds each command at its receiver until `release`. */
export function holdCredits() {
  const { promise, resolve } = Promise.withResolvers<void>()
  let asked = 0
  crediting.during = () => {
    asked++
    return promise
  }
  return {
    asked: () => asked,
    release() {
      crediting.during = async () => {}
      resolve()
    },
  }
}

/** The receiver of commands is away for those of an operation, until the function that is returned is called. */
export function failCredits(operationId: string): () => void {
  let isAway = true
  crediting.during = async (reference) => {
    if (isAway && reference.startsWith(operationId)) throw new Error('the wallet is down')
  }
  return () => {
    isAway = false
  }
}
