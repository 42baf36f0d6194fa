// What commands need before they are sent.
import { apiVersion, eventSubject, events, type Input, operations } from '@backoffice/contracts'
import { newId } from '@backoffice/process'
import { inputDigest } from '@backoffice/team-access/identity'
import { newDeposit } from '@backoffice/test-kit'
import type { World } from './world.ts'

const { payments } = operations

/** An event that the operator has received. */
export async function deliveredEvent(world: World) {
  const since = new Date().toISOString()
  await world.call(payments.confirmDeposit, { depositId: await newDeposit(world) })
  await world.settle()
  const { id } = await world.row('select id from webhooks.delivery order by event_created_at desc, id desc limit 1')
  return { id: id as string, since }
}

/** An event of the operator that webhooks could not handle when it came. */
export async function setAsideEvent(world: World): Promise<void> {
  const { operatorId, brandId, environment } = world.scope
  const type = 'deposit.confirmed'
  const createdAt = new Date().toISOString()
  const event = {
    id: newId('evt'),
    type,
    apiVersion,
    environment,
    operatorId,
    brandId,
    createdAt,
    data: events[type].example,
  }
  await world.row(
    `insert into webhooks.set_aside_message (consumer, subject, payload, fault, set_aside_at)
    values ('schedule-delivery', $1, $2, 'a test', now())`,
    [eventSubject(type), JSON.stringify(event)],
  )
}

/**
 * A confirmed deposit whose player's account has come to be in another currency, so that the wallet refuses the credit for
 * ever. The relay tries it again in an hour.
 */
export async function stuckCredit(
  world: World,
  { depositId, id }: { readonly depositId: string; readonly id: string },
) {
  // Not as the team, whose reads are recorded: payments is to die later than here.
  const { rows } = await world.bed
    .sql('admin')
    .query('select player_id, (amount / 100.0)::numeric(20, 2)::text as amount from payments.deposit where id = $1', [
      depositId,
    ])
  const { player_id: playerId, amount } = rows[0]
  const context = { requestId: newId('req') }
  const input = { playerId, depositId, amount, effectiveAt: new Date().toISOString() }
  const command = { context, scope: world.scope, input }
  // An account keeps its currency, so the trigger that says so is left out.
  await world.bed.sql('admin').query(
    `begin; set local session_replication_role = 'replica';
    update wallet.account set currency = 'USD' where owner_id = '${playerId}'; commit`,
  )
  const { operatorId, brandId, environment } = world.scope
  const data = { playerId, status: 'confirmed', amount, version: 2 }
  const event = { id: newId('evt'), type: 'deposit.confirmed', apiVersion, environment, operatorId, brandId, data }
  await world.row(
    `with confirmed as (
      update payments.deposit set status = 'confirmed', version = 2, confirmed_at = now() where id = $1
    ), step as (
      insert into payments.status_transition (record_id, version, from_status, to_status, at, by_kind, by_name, operation_id)
      values ($1, 2, 'pending', 'confirmed', now(), 'operator', $2, $3)
    ), known as (
      insert into payments.operation (operation_id, name, reply, created_at) values ($3, 'confirmDeposit', '{"body":{}}', now())
    )
    insert into payments.outbox (id, aggregate, aggregate_seq, kind, name, message, environment, operation_id, created_at, leased_until)
    values ($3, $1, 1, 'command', 'wallet.creditAccount', $4, $7, $3, now(), now() + interval '1 hour'),
      ($5, $1, 2, 'event', 'deposit.confirmed', $6, $7, $3, now(), now() + interval '1 hour')`,
    [depositId, operatorId, id, JSON.stringify(command), event.id, JSON.stringify({ context, event }), environment],
  )
  return {
    depositId,
    playerId: playerId as string,
    environment,
    amount: amount as string,
    currency: world.scope.currency,
  }
}

/** What alice proposed a moment ago. Written by hand, since what dies here is the approval alone. @returns its id */
export async function proposalToEnd(world: World, input: Input<typeof payments.endCommand>): Promise<string> {
  const { reason: why, ...proposed } = input
  const id = newId('prp')
  await world.row(
    `with proposed as (
      insert into payments.team_proposal (id, operation, fingerprint, input, reason, proposed_by, proposed_by_id, proposed_at,
        expires_at, operation_id)
      values ($1, 'endCommand', $2, $3, $4, 'alice', $6, now(), now() + interval '1 hour', $1)
    )
    insert into payments.audit_entry (id, at, actor, actor_id, operation, operation_id, subject, reason, input, outcome)
    values ($1, now(), 'alice', $6, 'endCommand', $1, $5, $4, $3, 'AWAITS_APPROVAL')`,
    [
      id,
      inputDigest(['endCommand', proposed]),
      JSON.stringify(proposed),
      why,
      input.commandId,
      'https://identity.test alice',
    ],
  )
  return id
}
