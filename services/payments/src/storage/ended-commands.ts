import type { ApprovedProposal, Db } from '@backoffice/service-runtime'

/** Records that a command was given up, by whom, and who had proposed it. */
export async function insertEndedCommand(
  db: Db,
  ended: {
    readonly commandId: string
    readonly depositId: string
    readonly proposal: ApprovedProposal
    readonly by: string
    readonly at: Date
    readonly operationId: string
  },
): Promise<void> {
  const { commandId, depositId, proposal, by, at, operationId } = ended
  await db`
    insert into ended_command
      (command_id, deposit_id, proposed_by, proposal_operation_id, ended_by, ended_at, operation_id)
    values (${commandId}, ${depositId}, ${proposal.proposedBy}, ${proposal.operationId}, ${by}, ${at}::timestamptz,
      ${operationId})
  `
}
