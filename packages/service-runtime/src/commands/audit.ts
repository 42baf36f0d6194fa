import {
  type AuditEntry,
  type AuditedChange,
  type ErrorCode,
  invalid,
  type Operation,
  type operations,
  type Reply,
  type TeamTool,
} from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { auditedInput, subjectAndReason } from '@backoffice/team-identity'
import { columnNames, type Db, rowsOf, sql } from '../database/db.ts'
import type { Call, QueryTools } from './handle.ts'
import { toPage, type WithTimes, withIsoTimes } from './reply.ts'

/** What a page of the trail shows. */
export const shownColumns = `
  id text, at timestamptz, actor text, actor_id text, operation text, operation_id text, subject text, reason text, input json,
  outcome text, session text, tool text, changes json
`
/** Proofs are looked at when somebody denies what they did. */
const auditColumns = `${shownColumns}, proof text, proposal text`

/** Who did what, to what and why. */
export interface AuditRow {
  readonly id: string
  readonly actor: string
  /** Null for what a service did by itself. */
  readonly actorId: string | null
  readonly operation: string
  readonly operationId: string
  readonly subject: string | null
  readonly reason: string | null
  readonly input: unknown
  readonly outcome: AuditOutcome
  /** Null where nothing became different. */
  readonly changes: readonly AuditedChange[] | null
  /** Of a person or a machine; null for what a service did by itself. */
  readonly session: string | null
  readonly tool: TeamTool | null
  /** The signed call. With the ID token of the session it proves who called. */
  readonly proof: string | null
  /** The id of the proposal that this call carried out, or tried to. */
  readonly proposal: string | null
}

/** What became of a call: done, proposed to somebody else, or refused with a code. */
export type AuditOutcome = 'done' | ErrorCode

/** What a service does by itself has no caller. */
export const byService = {
  actorId: null,
  outcome: 'done',
  changes: null,
  session: null,
  tool: null,
  proof: null,
  proposal: null,
} as const

/** What became of a call, and what it changed. */
interface Result {
  readonly outcome?: AuditOutcome
  readonly changes?: readonly AuditedChange[]
}

export type AuditedCall = Pick<Call, 'caller' | 'operationId' | 'input' | 'approves'>

/** Taken from the common shape of the team's operations. */
export function auditRow(
  operation: Operation,
  call: AuditedCall,
  { outcome = 'done', changes = [] }: Result = {},
): AuditRow {
  const { name: actor, id: actorId, session, tool, evidence } = call.caller
  const input = auditedInput(operation, call.input as Readonly<Record<string, unknown>>)
  return {
    id: newId('aud'),
    actor,
    actorId,
    operation: operation.id,
    operationId: call.operationId,
    ...subjectAndReason(input),
    input,
    outcome,
    changes: changes.length === 0 ? null : changes,
    session,
    tool,
    proof: evidence.proof,
    proposal: call.approves ?? null,
  }
}

/** Writes audit entries, in the transaction of what they are about. */
export async function insertAudit(db: Db, rows: readonly AuditRow[], now: Date): Promise<void> {
  const entries = rows.map((row) => ({ ...row, at: now }))
  await db`insert into audit_entry ${rowsOf('entry', entries, auditColumns)}`
}

/** Records a team action that keeps its own transaction. Commands are recorded by the runner. */
export function recordAction(
  db: Db,
  operation: Operation,
  call: AuditedCall,
  now: Date,
  result: Result = {},
): Promise<void> {
  return insertAudit(db, [auditRow(operation, call, result)], now)
}

type ListAudit = (typeof operations)['gateway']['listAudit']

/** Answers the `listAudit` operation of any service. */
export async function readAudit({ input }: Call<ListAudit>, { db }: QueryTools): Promise<Reply<ListAudit>> {
  const { actor, subject, since = null, limit } = input
  const before = input.before === undefined ? afterAll : placeOf(input.before, '/before')
  const rows = await db<WithTimes<AuditEntry, 'at'>>`
    select ${columnNames(shownColumns)} from audit_entry
    -- Statements of their own, since each uses another index.
    where ${actor === undefined ? sql`true` : sql`actor = ${actor}`}
      and ${subject === undefined ? sql`true` : sql`subject = ${subject}`}
      and at >= coalesce(${since}::timestamptz, '-infinity')
      and (at, id) < (${before.at}::timestamptz, ${before.id}::text)
    order by at desc, id desc
    limit ${limit + 1}
  `
  return toPage(rows.map(withIsoTimes), limit, cursorAt)
}

/** A place in the order of the trail; this one comes after every entry. */
const afterAll = { at: 'infinity', id: '' }

/** The cursor of the page that begins after an entry. */
export const cursorAt = ({ at, id }: Pick<AuditEntry, 'at' | 'id'>): string => `${at}/${id}`

/**
 * The place in the trail where a page begins.
 * @param path of the field that has the cursor, as a JSON pointer
 * @throws {Rejection} VALIDATION_ERROR
 */
export function placeOf(cursor: string, path: string): typeof afterAll {
  const [, at = '', id = ''] = /^([^/]+)\/([^/]+)$/.exec(cursor) ?? []
  if (id === '' || Number.isNaN(Date.parse(at))) throw invalid('body', path, 'is not a cursor of the trail')
  return { at, id }
}
