import { fromMinorUnits, operations } from '@backoffice/contracts'
import { type ReadDb, sql } from '@backoffice/service-runtime'
import { environmentOf } from './environments.ts'
import { isAuditOfDecision, productionDecisions } from './players-checks.ts'
import type { CalledFor } from './signed-calls.ts'

// What was done in production because people of the team called for it. What has no entry in the trail is left out here: other
// checks name it.

type Row<Fields> = Omit<CalledFor, 'operation' | 'says'> & Fields

const decisionOf: Readonly<Record<string, string>> = {
  approved: 'approve',
  rejected: 'reject',
  paid: 'pay',
  failed: 'fail',
}

/** The destination is sealed: whoever decides about one withdrawal must have seen the same one as who decided first. */
export async function readDecisionsOnWithdrawals(db: ReadDb, keys: readonly string[]): Promise<CalledFor[]> {
  const rows = await db<
    Row<{ playerId: string; amount: bigint; currency: string; toStatus: string; destinationDigest: string | null }>
  >`
    select w.id as key, w.brand_id, w.id as subject, s.at, a.id as audit_id, w.player_id, w.amount, w.currency, s.to_status,
      first_value(reconciler.json_text(a.input, 'destinationDigest')) over (partition by w.id order by s.version) as destination_digest
    from unnest(${keys}::text[]) as k (key)
    join payments.reconcilable_withdrawal w on w.id = k.key
    join payments.reconcilable_transition s on s.record_id = w.id and s.by_kind = 'team'
    join payments.reconcilable_audit a on (a.subject, a.operation, a.operation_id, a.outcome)
      = (w.id, 'decideWithdrawal', s.operation_id, 'done')
    where ${environmentOf(sql`w.brand_id`)} = 'production'
  `
  return rows.map(({ playerId, amount, currency, toStatus, destinationDigest, ...row }) => {
    const what = { withdrawalId: row.key, playerId, amount: fromMinorUnits(amount), currency, destinationDigest }
    const says = { ...what, decision: decisionOf[toStatus] ?? toStatus }
    return { ...row, operation: operations.payments.decideWithdrawal, says }
  })
}

export async function readGivenUpCredits(db: ReadDb, keys: readonly string[]): Promise<CalledFor[]> {
  const rows = await db<Row<{ commandId: string }>>`
    select d.id as key, d.brand_id, d.id as subject, s.at, a.id as audit_id, e.command_id
    from unnest(${keys}::text[]) as k (key)
    join payments.reconcilable_deposit d on d.id = k.key
    join payments.reconcilable_ended_command e on e.deposit_id = d.id
    join payments.reconcilable_transition s on (s.record_id, s.by_kind, s.operation_id) = (d.id, 'team', e.operation_id)
    join payments.reconcilable_audit a on (a.subject, a.operation, a.operation_id, a.outcome)
      = (e.command_id, 'endCommand', e.operation_id, 'done')
    where ${environmentOf(sql`d.brand_id`)} = 'production'
  `
  return rows.map(({ commandId, ...row }) => {
    return { ...row, operation: operations.payments.endCommand, says: { commandId } }
  })
}

export async function readDecisionsOnIdentities(db: ReadDb, keys: readonly string[]): Promise<CalledFor[]> {
  const rows = await db<Row<{ playerId: string; status: string | null }>>`
    select c.key, c.brand_id, c.player_id as subject, c.at, a.id as audit_id, c.player_id, c.next as status
    from (select k.key, c.*, p.brand_id from unnest(${keys}::text[]) as k (key) ${productionDecisions}) c
    join players.reconcilable_audit a on ${isAuditOfDecision} and a.signed
  `
  return rows.map(({ playerId, status, ...row }) => {
    return { ...row, operation: operations.players.decideKyc, says: { playerId, status } }
  })
}
