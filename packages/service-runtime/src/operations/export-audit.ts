import {
  type AuditEntry,
  type ExportedAuditEntry,
  invalid,
  type operations,
  proposalHours,
  type Reply,
  type ServiceName,
} from '@backoffice/contracts'
import { columnNames, type Fragment, identifier, type ReadDb, sql } from '../database/db.ts'
import { cursorAt, placeOf, shownColumns } from './audit.ts'
import type { Call, QueryTools } from './handle.ts'
import { toPage, type WithTimes, withIsoTimes } from './page.ts'

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
 * Reads entries of a service's trail, as `e`, with all that it takes to verify them.
 * @param which what follows `where`
 */
export async function readProvenEntries(
  db: ReadDb,
  service: ServiceName,
  which: Fragment,
): Promise<ExportedAuditEntry[]> {
  const of = identifier(service)
  const rows = await db<Row>`
    select ${columnNames(shownColumns, 'e')}, e.proof, s.id_token, s.anchor,
      case when p.id is not null then json_build_object('id', p.id, 'input', p.input,
        'proposed', json_build_object('operationId', p.operation_id, 'actor', p.proposed_by, 'actorId', p.proposed_by_id, 'at', p.proposed_at,
          'reason', p.reason, 'proof', p.proof, 'idToken', f.id_token, 'anchor', f.anchor),
        'approved', case when p.state = 'approved' and not ${refusedOrDeclined(of)} then json_build_object('operationId', p.decided_operation_id,
          'actor', p.decided_by, 'actorId', p.decided_by_id, 'at', p.decided_at, 'reason', p.decision_reason, 'proof', p.decided_proof,
          'idToken', d.id_token, 'anchor', d.anchor) end) end as proposal
    from ${of}.audit_entry e
    left join ${of}.team_session s on s.session = e.session and s.person = e.actor
    left join ${of}.team_proposal p on p.id = e.proposal and p.operation = e.operation
    left join ${of}.team_session f on f.session = p.session and f.person = p.proposed_by
    left join ${of}.team_session d on d.session = p.decided_session and d.person = p.decided_by
    where ${which}
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

/**
 * Whether the trail itself says that the approval of proposal `p` was refused, or the proposal declined. The proposal is a
 * row that the service may change; the trail is not. Of a signature only the signed part is compared, because the bytes of
 * the signature itself can be written in several ways. Entries are read from the time in which the proposal was open, and
 * 15 minutes around it, because times are verified to some minutes only. An index has such entries alone, so each
 * alternative names what it has.
 * @param of the service's schema
 */
const refusedOrDeclined = (of: Fragment): Fragment => sql`exists (
  select from ${of}.audit_entry r
  where r.at between p.proposed_at - interval '15 minutes'
      and p.proposed_at + make_interval(hours => ${proposalHours}::int, mins => 15)
    and ((r.outcome = 'PROPOSAL_NOT_OPEN' and split_part(r.proof, '.', 2) = split_part(p.decided_proof, '.', 2))
      or (r.outcome = 'done' and r.operation = 'declineProposal' and r.input ->> 'proposalId' = p.id))
)`

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
      service,
      sql`
        e.at >= ${from}::timestamptz and e.at < ${to}::timestamptz
        and (e.at, e.id) > (${after.at}::timestamptz, ${after.id}::text)
        order by e.at, e.id limit ${limit + 1}
      `,
    )
    return toPage(entries, limit, cursorAt)
  }
