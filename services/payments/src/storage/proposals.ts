import type { Db, ReadDb } from '@backoffice/service-runtime'
import type { Proposal } from '../domain/proposal.ts'

/** What is proposed: an operation, and the id of what it is about. */
export interface ProposalKey {
  readonly operation: string
  readonly subject: string
}

export async function findProposal(db: ReadDb, { operation, subject }: ProposalKey): Promise<Proposal | undefined> {
  const rows = await db<Proposal>`
    select proposed_by, proposed_at, operation_id from proposal where operation = ${operation} and subject = ${subject}
  `
  return rows[0]
}

/** Writes a proposal, in place of one that has expired. What it is about must be locked. */
export async function saveProposal(
  db: Db,
  { operation, subject }: ProposalKey,
  { proposedBy, proposedAt, operationId }: Proposal,
): Promise<void> {
  await db`
    insert into proposal (operation, subject, proposed_by, proposed_at, operation_id)
    values (${operation}, ${subject}, ${proposedBy}, ${proposedAt}::timestamptz, ${operationId})
    on conflict (operation, subject) do update
      set proposed_by = excluded.proposed_by, proposed_at = excluded.proposed_at, operation_id = excluded.operation_id
  `
}
