import {
  type AuditEntry,
  type ExportedAuditEntry,
  invalid,
  type operations,
  type Reply,
  type ServiceName,
} from '@backoffice/contracts'
import { columnNames, type Fragment, identifier, type ReadDb, sql } from '../database/db.ts'
import { cursorAt, placeOf, shownColumns } from './audit.ts'
import type { Call, QueryTools } from './handle.ts'
import { toPage, type WithTimes, withIsoTimes } from './reply.ts'

type ExportAudit = (typeof operations)['gateway']['exportAudit']
type SignedCall = NonNullable<ExportedAuditEntry['proposal']>['proposed']
type Evidence = Pick<SignedCall, 'proof' | 'idToken' | 'anchor'>

/**
 * An entry is written at the end of a transaction and has the time of its beginning, so entries of the last moment may
 * still be missing.
 */
const settledAfterMs = 60_000

/** A call of a proposal. Both have its input, and each a reason of its own. */
type ProposalCall = Omit<SignedCall, 'input'> & { readonly reason: string | null }

interface Row extends WithTimes<AuditEntry, 'at'>, Evidence {
  readonly proposal: {
    readonly id: string
    readonly input: object
    readonly proposed: ProposalCall
    readonly approved: ProposalCall | null
  } | null
}

/**
 * Reads entries of a trail with all that it takes to verify them.
 * @param from a view that shows them (`auditEvidence`), read as `e`
 * @param which what follows `where`
 */
export async function readProvenEntries(db: ReadDb, from: Fragment, which: Fragment): Promise<ExportedAuditEntry[]> {
  const rows = await db<Row>`
    select ${columnNames(shownColumns, 'e')}, e.proof, e.id_token, e.anchor, e.proposal from ${from} e where ${which}
  `
  return rows.map(({ proposal, ...entry }) => ({
    ...withIsoTimes(entry),
    proposal: proposal && {
      id: proposal.id,
      proposed: signedCall(proposal.proposed, proposal.input),
      approved: proposal.approved && signedCall(proposal.approved, proposal.input),
    },
  }))
}

const signedCall = ({ reason, at, ...call }: ProposalCall, input: object): SignedCall => ({
  ...call,
  at: new Date(at).toISOString(),
  input: reason === null ? input : { ...input, reason },
})

/** Answers the `exportAudit` operation of a service. */
export const exportAudit =
  (service: ServiceName) =>
  async ({ input }: Call<ExportAudit>, { db, now }: QueryTools): Promise<Reply<ExportAudit>> => {
    const { from, to, cursor, limit } = input
    if (now.getTime() - Date.parse(to) < settledAfterMs)
      throw invalid('body', '/to', 'must be at least a minute ago, because entries of the last minute are still coming')
    const after = cursor === undefined ? { at: from, id: '' } : placeOf(cursor, '/cursor')
    const entries = await readProvenEntries(
      db,
      sql`${identifier(service)}.audit_evidence`,
      sql`
        e.at >= ${from}::timestamptz and e.at < ${to}::timestamptz
        and (e.at, e.id) > (${after.at}::timestamptz, ${after.id}::text)
        order by e.at, e.id limit ${limit + 1}
      `,
    )
    return toPage(entries, limit, cursorAt)
  }
