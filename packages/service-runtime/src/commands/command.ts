import assert from 'node:assert/strict'
import { type AuditedChange, type Operation, Rejection } from '@backoffice/contracts'
import type { Db, Transaction } from '@backoffice/database'
import { type BatchFault, batchFaultOf, isUniqueViolation, lockingOver } from '@backoffice/database'
import { newId, retry } from '@backoffice/process'
import { Batcher } from '../batcher.ts'
import type { OutboxRow } from '../outbox/store.ts'
import { type BatchedCommand, type PreparedCall, type SingleCommand, UnfinishedOperation } from './handle.ts'
import {
  type Attempt,
  type AttemptContext,
  type CallRecord,
  collectRows,
  type Outcome,
  recordOf,
  recordOfRefusal,
  rowsOf,
  type Writing,
  writeRecords,
} from './record.ts'
import { findKnown, isStorable, type KnownOperation, replyToKeep } from './reply.ts'

// biome-ignore lint/suspicious/noExplicitAny: each command's types are checked where it is declared
type Command = BatchedCommand<any, unknown, unknown, unknown>

export const batchMax = 200
const queueMax = 2_000
const batchBytesMax = 1_000_000

/** Attempts that wait together become outcomes in one transaction. */
export function batchedAttempts(
  operation: Operation,
  command: Command,
  context: AttemptContext,
): Batcher<Attempt, Outcome | Error> {
  return new Batcher({
    batchMax,
    queueMax,
    bytesMax: batchBytesMax,
    bytesOf: ({ bytes }) => bytes,
    conflictKeys: (attempt) => [attempt.call.operationId, ...namesOf(command, attempt)],
    ownerOf: ({ owner }) => owner,
    isExpired: ({ call }) => call.deadline.getTime() <= context.timers.now(),
    timers: context.timers,
    faultOf: batchFaultOf,
    run: (attempts, { alone, lockTimeoutMs }) =>
      context.db
        .transaction((db) => runTogether(command, attempts, db), {
          lockTimeoutMs,
          readsFirst: true,
          alone,
        })
        .catch((error) => {
          if (!alone && goOneByOne.has(batchFaultOf(error))) logFailedBatch(context.log, operation, error)
          throw error
        }),
  })
}

const goOneByOne: ReadonlySet<BatchFault> = new Set(['alone', 'locked'])

/** The callers may not notice that their batch failed, so it is logged. A failed assertion is a bug. */
function logFailedBatch(log: AttemptContext['log'], operation: Operation, err: unknown): void {
  const level = err instanceof assert.AssertionError ? 'error' : 'warn'
  log[level]({ err, operation: operation.id }, `a batch of ${operation.id} failed; its calls run one by one`)
}

function namesOf(command: Command, { call, preparation }: Attempt): readonly string[] {
  return preparation.is === 'refused' ? [] : command.conflictKeys(preparedCall(call, preparation.value))
}

const preparedCall = (call: Attempt['call'], prepared: unknown): PreparedCall<never, unknown> =>
  // A copy that keeps the getters of `call`, which throw when they should not be read.
  Object.create(call, { prepared: { value: prepared, enumerable: true } }) as never

/** A call, with what its decision depends on. */
interface Case {
  readonly attempt: Attempt
  readonly known: KnownOperation | undefined
  readonly call: PreparedCall<never, unknown> | undefined
  readonly state: unknown
}

/** The decision on a call: what is written, and what its caller gets. An error concerns this call alone. */
interface Decided {
  readonly outcome: Outcome | Error
  readonly record?: CallRecord
  readonly change?: { readonly value: unknown }
}

async function runTogether(
  command: Command,
  attempts: readonly Attempt[],
  db: Transaction,
): Promise<readonly (Outcome | Error)[]> {
  const { cases, now } = await loadCases(command, attempts, db)
  const decided: Decided[] = []
  for (const found of cases) {
    const one = decideCase(command, found, now)
    decided.push(one.change === undefined ? one : await askConsent(command, found, one, { db, now }))
  }
  const records = decided.flatMap(({ record }) => (record === undefined ? [] : [record]))
  const changes = decided.flatMap(({ change }) => (change === undefined ? [] : [change.value]))
  assertApart(records)
  if (records.length === 0) return decided.map(({ outcome }) => outcome)
  const saved = changes.length === 0 ? [] : command.save(changes, { vault: db.vault, now })
  const [behind] = await db.commitWith(() =>
    Promise.all([writeRecords(db, records, { command, now }), db.write(saved)]),
  )
  return decided.map(({ outcome }) =>
    'is' in outcome && outcome.is === 'replied' ? { ...outcome, sent: { ...outcome.sent, behind } } : outcome,
  )
}

async function loadCases(
  command: Command,
  attempts: readonly Attempt[],
  db: Db,
): Promise<{ readonly cases: readonly Case[]; readonly now: Date }> {
  const calls = attempts.map(({ call, preparation }) =>
    preparation.is === 'prepared' ? preparedCall(call, preparation.value) : undefined,
  )
  const loading = calls.filter((call) => call !== undefined)
  // Both are sent at once. What is loaded for a known call is not used.
  const [{ known, now }, loaded] = await Promise.all([
    findKnown(
      db,
      attempts.map(({ call }) => call.operationId),
    ),
    // Promise.try: an error that `load` throws at once must not leave the other promise without a handler.
    loading.length === 0 ? [] : Promise.try(() => command.load(loading, { db: lockingOver(db) })),
  ])
  assert.equal(loaded.length, loading.length, 'a state is loaded for each call')
  const states = new Map(loading.map((call, index) => [call, loaded[index]]))
  const cases = attempts.map((attempt, index) => {
    const call = calls[index]
    return { attempt, known: known.get(attempt.call.operationId), call, state: call && states.get(call) }
  })
  return { cases, now }
}

function decideCase(command: Command, { attempt, known, call, state }: Case, now: Date): Decided {
  if (known !== undefined) return { outcome: { is: 'known', known } }
  if (attempt.preparation.is === 'refused') return refused(attempt, attempt.preparation.rejection)
  assert(call !== undefined)
  try {
    const { reply, change, sends = [], changed = [] } = command.decide(call, state, { now, newId })
    const rows = rowsOf(sends, attempt, now)
    const sent = { operationId: attempt.call.operationId, rows, behind: new Set<string>() }
    return {
      outcome: { is: 'replied', body: reply, sent },
      record: recordOf(attempt, { reply: replyToKeep(command, reply), rows, changes: changed }),
      change: { value: change },
    }
  } catch (error) {
    if (error instanceof UnfinishedOperation) return { outcome: { is: 'blocked', by: error.operationId } }
    if (isStorable(attempt.operation, error)) return refused(attempt, error)
    return { outcome: error instanceof Error ? error : new Error(String(error)) }
  }
}

/** A call that is refused anyway asks nobody, so this comes after the decision. */
async function askConsent(
  command: Command,
  { attempt, call, state }: Case,
  decided: Decided,
  tools: { readonly db: Db; readonly now: Date },
): Promise<Decided> {
  if (command.consent === undefined) return decided
  assert(call !== undefined)
  try {
    const rejection = await command.consent(call, tools, state)
    return rejection === undefined ? decided : refused(attempt, rejection)
  } catch (error) {
    if (isStorable(attempt.operation, error)) return refused(attempt, error)
    throw error
  }
}

const refused = (attempt: Attempt, rejection: Rejection): Decided => ({
  outcome: { is: 'refused', rejection },
  record: recordOfRefusal(attempt, rejection),
})

/** Rows are numbered per aggregate: two calls about one aggregate in a batch would be given the same numbers. */
function assertApart(records: readonly CallRecord[]): void {
  const owners = new Map<string, string>()
  for (const { operationId, rows } of records) {
    for (const { aggregate } of rows) {
      const owner = owners.get(aggregate) ?? operationId
      assert.equal(owner, operationId, `two calls of a batch send about ${aggregate}: \`conflictKeys\` must name it`)
      owners.set(aggregate, owner)
    }
  }
}

/** An attempt begins again because somebody else wrote the same row first. */
const attemptsMax = 3

/** One transaction for one call: the effect, its outbox rows and the reply commit together. */
export function attemptSingly(
  // biome-ignore lint/suspicious/noExplicitAny: only the command's own steps know what it prepares
  command: SingleCommand<any, any>,
  attempt: Attempt,
  context: AttemptContext,
): Promise<Outcome> {
  const { preparation } = attempt
  const once = () =>
    preparation.is === 'refused'
      ? storeRefusal(command, attempt, preparation.rejection, context)
      : executeOnce(command, attempt, preparation.value, context)
  return retry(once, { while: isUniqueViolation, attemptsMax })
}

async function executeOnce(
  // biome-ignore lint/suspicious/noExplicitAny: as above
  command: SingleCommand<any, any>,
  attempt: Attempt,
  prepared: unknown,
  context: AttemptContext,
): Promise<Outcome> {
  const { call, operation } = attempt
  const { db, log } = context
  try {
    return await db.transaction(async (tx): Promise<Outcome> => {
      const { known: stored, now } = await findKnown(tx, [call.operationId])
      const known = stored.get(call.operationId)
      if (known !== undefined) return { is: 'known', known }
      const rows: OutboxRow[] = []
      const changes: AuditedChange[] = []
      const tools = {
        db: tx,
        now,
        newId,
        log,
        ...collectRows(rows, { requestId: call.requestId, now }),
        changed: (...made: readonly AuditedChange[]) => void changes.push(...made),
      }
      const body = await command.execute(call, tools, prepared)
      await tx.flush()
      if (body instanceof Rejection) return writeRefusal(tx, attempt, body, { command, now })
      const reply = replyToKeep(command, body)
      const behind = await writeRecords(tx, [recordOf(attempt, { reply, rows, changes })], { command, now })
      const sent = { operationId: call.operationId, rows, behind }
      return { is: 'replied', body, sent }
    })
  } catch (error) {
    if (error instanceof UnfinishedOperation) return { is: 'blocked', by: error.operationId }
    if (!isStorable(operation, error)) throw error
    return storeRefusal(command, attempt, error, context)
  }
}

async function writeRefusal(tx: Db, attempt: Attempt, rejection: Rejection, by: Writing): Promise<Outcome> {
  await writeRecords(tx, [recordOfRefusal(attempt, rejection)], by)
  return { is: 'refused', rejection }
}

/** In a transaction of its own, since the refusal rolled the effect back; first writer wins. */
function storeRefusal(
  command: Writing['command'],
  attempt: Attempt,
  rejection: Extract<Outcome, { is: 'refused' }>['rejection'],
  { db }: AttemptContext,
): Promise<Outcome> {
  const { operationId } = attempt.call
  return db.transaction(async (tx): Promise<Outcome> => {
    const { known: stored, now } = await findKnown(tx, [operationId])
    const known = stored.get(operationId)
    return known === undefined ? writeRefusal(tx, attempt, rejection, { command, now }) : { is: 'known', known }
  })
}
