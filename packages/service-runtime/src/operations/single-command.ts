import { type AuditedChange, Rejection } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import type { Db } from '../database/db.ts'
import { isUniqueViolation } from '../database/faults.ts'
import type { OutboxRow } from '../outbox/store.ts'
import { type SingleCommand, UnfinishedOperation } from './handle.ts'
import {
  type Attempt,
  type AttemptContext,
  type CallRecord,
  collectRows,
  type Outcome,
  recordOf,
  recordOfRefusal,
  writeRecords,
} from './record.ts'
import { findKnown, isStorable, replyToKeep } from './stored-reply.ts'
import { proposeOrApprove, takesSecondPerson } from './two-people.ts'

/** How often an attempt begins again because somebody else wrote the same row first. */
const repeatsMax = 2

/** One transaction for one call: the effect, its outbox rows and the reply commit together. */
export async function attemptSingly(
  // biome-ignore lint/suspicious/noExplicitAny: only the command's own steps know what it prepares
  command: SingleCommand<any, any>,
  attempt: Attempt,
  context: AttemptContext,
): Promise<Outcome> {
  for (let repeat = 0; ; repeat++) {
    try {
      return attempt.preparation.is === 'refused'
        ? await storeRefusal(attempt, attempt.preparation.rejection, context)
        : await executeOnce(command, attempt, attempt.preparation.value, context)
    } catch (error) {
      if (repeat >= repeatsMax || !isUniqueViolation(error)) throw error
    }
  }
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
      if (await takesSecondPerson(operation, call, () => command.approval?.(call, { db: tx, now }, undefined))) {
        const decided = await proposeOrApprove({ db: tx, operation, call, now })
        if (decided instanceof Rejection) return refused(tx, attempt, decided, now)
      }
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
      if (body instanceof Rejection) return refused(tx, attempt, body, now)
      const reply = replyToKeep(command, body)
      const behind = await writeRecords(tx, [recordOf(attempt, { reply, rows, changes })], now)
      return { is: 'replied', body, sent: { operationId: call.operationId, rows, behind } }
    })
  } catch (error) {
    if (error instanceof UnfinishedOperation) return { is: 'blocked', by: error.operationId }
    if (!isStorable(operation, error)) throw error
    return storeRefusal(attempt, error, context)
  }
}

async function refused(tx: Db, attempt: Attempt, rejection: Rejection, now: Date): Promise<Outcome> {
  await writeRecords(tx, [recordOfRefusal(attempt, rejection)], now)
  return { is: 'refused', rejection }
}

/** In a transaction of its own, since the refusal rolled the effect back; first writer wins. */
function storeRefusal(
  attempt: Attempt,
  rejection: Extract<Outcome, { is: 'refused' }>['rejection'],
  { db }: AttemptContext,
): Promise<Outcome> {
  const record: CallRecord = recordOfRefusal(attempt, rejection)
  return db.transaction(async (tx): Promise<Outcome> => {
    const { known: stored, now } = await findKnown(tx, [record.operationId])
    const known = stored.get(record.operationId)
    if (known !== undefined) return { is: 'known', known }
    await writeRecords(tx, [record], now)
    return { is: 'refused', rejection }
  })
}
