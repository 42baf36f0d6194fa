import { roleName, serviceNames } from '@backoffice/contracts'
import type { Migration } from '@backoffice/service-runtime'

const others = serviceNames.filter((name) => name !== 'gateway').map(roleName)

/** Who of the team may not act any more. All services read it here, at each call of the team. */
export const endedSessions: Migration = {
  name: '0002_ended_sessions',
  sql: `
create table gateway.ended_session (
  -- The account of a person, or a machine.
  person_id text collate "C" not null,
  -- The thumbprint of one session's key, or the provider's name of its session. Empty: all of the person.
  session text collate "C" not null,
  -- Sessions that began later may act. Locked: infinity.
  ended_before timestamptz not null,
  primary key (person_id, session)
);
create index ended_session_before on gateway.ended_session (ended_before);
grant usage on schema gateway to ${others.join(', ')};
grant select on gateway.ended_session to ${others.join(', ')};
`,
}
