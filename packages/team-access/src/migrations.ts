import { proposalHours, roleName, type ServiceName } from '@backoffice/contracts'
import { appendOnly } from '@backoffice/service-runtime'

/** The team's part of the runtime's baseline. */
export const teamTables = (service: ServiceName): string =>
  [auditTrail, team, auditEvidence].map((part) => part(service)).join('\n')

/** Who of the team called, how, and what became of it. */
const auditTrail = (service: ServiceName): string => `
create table ${service}.audit_entry (
  id text collate "C" primary key,
  at timestamptz not null,
  actor text not null,
  -- The account at the identity provider: a name may change. Null, as the next ones, for what a service did by itself.
  actor_id text,
  session text,
  tool text,
  -- The signed call.
  proof text,
  operation text not null,
  operation_id text not null,
  subject text,
  reason text,
  input json not null,
  -- done, or the code that it was refused with.
  outcome text not null,
  changes json,
  -- The proposal that it carried out, or tried to.
  proposal text,
  xid xid8 not null default pg_current_xact_id()
);
create index audit_entry_at on ${service}.audit_entry (at desc);
-- What the team did about one record, and what one person did, newest first.
create index audit_entry_of_subject on ${service}.audit_entry (subject, at desc);
create index audit_entry_of_actor on ${service}.audit_entry (actor, at desc);
-- Calls that came too late for a proposal, and those that declined one. Whoever verifies what two people did looks for them
-- in the time in which the proposal was open, and the trail has few of them.
create index audit_entry_of_closed_proposal on ${service}.audit_entry (at)
  where outcome = 'PROPOSAL_NOT_OPEN' or operation = 'declineProposal';
${appendOnly(`${service}.audit_entry`)}
-- The service writes the time of an entry, and could write a wrong one. Which transaction wrote it, PostgreSQL says.
revoke insert on ${service}.audit_entry from ${roleName(service)};
grant insert (id, at, actor, actor_id, session, tool, proof, operation, operation_id, subject, reason, input, outcome, changes,
  proposal) on ${service}.audit_entry to ${roleName(service)};`

/** Logins of the team, and calls that wait for a second person: with what somebody needs to verify them without any service. */
const team = (service: ServiceName): string => `
create table ${service}.team_session (
  -- Thumbprint of the key that signs the session's calls.
  session text not null,
  person text not null,
  person_id text,
  kind text not null check (kind in ('person', 'machine')),
  -- As the identity provider issued it. Null for a machine.
  id_token text,
  -- The public key that the session rests on, as a JWK: the provider's, which signed the ID token and which the provider may
  -- not have any more; of a machine, its own.
  anchor json,
  first_used_at timestamptz not null,
  primary key (session, person)
);
${appendOnly(`${service}.team_session`)}
create table ${service}.team_proposal (
  id text collate "C" primary key,
  operation text not null,
  -- Of the operation and its input, without the reason: the second person may give another one.
  fingerprint text not null,
  input json not null,
  reason text,
  proposed_by text not null,
  proposed_by_id text,
  proposed_at timestamptz not null,
  expires_at timestamptz not null,
  operation_id text not null,
  session text,
  proof text,
  state text not null default 'open' check (state in ('open', 'approved', 'declined', 'expired')),
  decided_by text,
  decided_by_id text,
  decided_at timestamptz,
  decided_operation_id text,
  decided_session text,
  decided_proof text,
  decision_reason text
);
create unique index team_proposal_open on ${service}.team_proposal (fingerprint) where state = 'open';
revoke delete on ${service}.team_proposal from ${roleName(service)};
`

/** A text within a document by its path; null where there is none, or where PostgreSQL can make no text of it. */
export const jsonText = (schema: ServiceName): string => `
-- A document may hold what PostgreSQL makes no text of, such as an escaped zero: then every operator that looks into it fails.
create function ${schema}.json_text(document json, variadic path text[]) returns text language plpgsql immutable as $$
begin
  return document #>> path;
exception when others then
  return null;
end $$;
`

/**
 * What the service shows of itself to whoever reconciles: views, each with its rights. A view has the rights of the owner
 * of the tables, so nobody else, and the service least of all, may write through one.
 */
export const shownToReconciler = (service: ServiceName, views: Readonly<Record<string, string>>): string =>
  Object.entries(views)
    .map(
      ([view, query]) => `
create view ${service}.${view} as ${query};
revoke all on ${service}.${view} from ${roleName(service)}, ${roleName('reconciler')};
grant select on ${service}.${view} to ${roleName('reconciler')};`,
    )
    .join('\n')

/**
 * What reconciliation reads of the runtime's tables in a service's schema. Nothing outside of the runtime depends on how
 * these tables look: who changes them changes the views in the same migration.
 */
export const reconcilableViews = (service: ServiceName): string => `
grant usage on schema ${service} to ${roleName('reconciler')};
${jsonText(service)}
${shownToReconciler(service, {
  reconcilable_audit: `
  select e.id, e.at, e.actor, e.actor_id, e.operation, e.operation_id, e.subject, e.reason, e.input, e.session,
    e.proof is not null as signed, e.outcome,
    exists (select from ${service}.team_proposal p where p.id = e.proposal and p.operation = e.operation) as proposed
  from ${service}.audit_entry e`,
  // Null: a message of no brand, or one that nobody can read.
  reconcilable_outbox: `
  select id, kind, name, aggregate, created_at,
    coalesce(${service}.json_text(message, 'scope', 'brandId'), ${service}.json_text(message, 'event', 'brandId')) as brand_id
  from ${service}.outbox`,
})}
`

const evidenceColumns = (id: string, operation: string, by: string, at: string, reason: string, proof: string) =>
  `'operationId', ${operation}, 'actor', p.${by}, 'actorId', p.${by}_id, 'at', ${at}, 'reason', ${reason}, 'proof', ${proof},
        'idToken', ${id}.id_token, 'anchor', ${id}.anchor`

/**
 * Entries of the trail with all that it takes to verify them: the service exports them by it, and they are judged by it.
 *
 * An approval counts unless the trail itself says that it was refused, or the proposal declined. The proposal is a row that
 * the service may change; the trail is not. Of a signature only the signed part is compared, because the bytes of the
 * signature itself can be written in several ways. Entries are read from the time in which the proposal was open, and 15
 * minutes around it, because times are verified to some minutes only. An index has such entries alone, so each alternative
 * names what it has.
 */
const auditEvidence = (service: ServiceName): string => `
create view ${service}.audit_evidence as
select e.id, e.at, e.actor, e.actor_id, e.operation, e.operation_id, e.subject, e.reason, e.input, e.outcome, e.session, e.tool,
  e.changes, e.proof, e.xid, s.id_token, s.anchor,
  case when p.id is not null then json_build_object('id', p.id, 'input', p.input,
    'proposed', json_build_object(${evidenceColumns('f', 'p.operation_id', 'proposed_by', 'p.proposed_at', 'p.reason', 'p.proof')}),
    'approved', case when p.state = 'approved' and not exists (
      select from ${service}.audit_entry r
      where r.at between p.proposed_at - interval '15 minutes'
          and p.proposed_at + make_interval(hours => ${proposalHours}, mins => 15)
        and ((r.outcome = 'PROPOSAL_NOT_OPEN' and split_part(r.proof, '.', 2) = split_part(p.decided_proof, '.', 2))
          or (r.outcome = 'done' and r.operation = 'declineProposal' and r.input ->> 'proposalId' = p.id))
    ) then json_build_object(${evidenceColumns('d', 'p.decided_operation_id', 'decided_by', 'p.decided_at', 'p.decision_reason', 'p.decided_proof')}) end) end as proposal
from ${service}.audit_entry e
left join ${service}.team_session s on s.session = e.session and s.person = e.actor
left join ${service}.team_proposal p on p.id = e.proposal and p.operation = e.operation
left join ${service}.team_session f on f.session = p.session and f.person = p.proposed_by
left join ${service}.team_session d on d.session = p.decided_session and d.person = p.decided_by;
revoke all on ${service}.audit_evidence from ${roleName(service)}, ${roleName('reconciler')};
grant select on ${service}.audit_evidence to ${roleName(service)};
`
