import {
  invalid,
  type Operation,
  operations,
  type Reply,
  type ServiceName,
  type StuckCommand,
  type TeamMember,
  teamMembersMax,
} from '@backoffice/contracts'
import {
  type Call,
  handle,
  type Plugin,
  type Tools,
  toPage,
  type WithTimes,
  withIsoTimes,
} from '@backoffice/service-runtime'
import { Type } from '@sinclair/typebox'
import { TeamGate } from './approval/gate.ts'
import { declineProposal, readProposals } from './approval/two-people.ts'
import { type IdentitySettings, identityOf, identitySettings, TeamVerifier, trustedTeam } from './identity/index.ts'
import { renewSealed, type SealedTable } from './sealed-tables.ts'
import { readOwnSessions } from './trail/sessions.ts'
import { exportAudit, readAudit, recordAction } from './trail/trail.ts'

/**
 * Who of the team may do what in a service, with whom, and what is written down of it. Its tables are `teamTables`.
 * @param sealedTables tables of the service's own with sealed columns. It then has the `sealingSettings`
 */
export const teamPlugin = ({
  sealedTables = [],
}: {
  readonly sealedTables?: readonly SealedTable[]
} = {}): Plugin<IdentitySettings> => ({
  settings: identitySettings,
  assertSettings: (settings) => void identityOf(settings),
  plug({ db, clock, log, service, settings, own }) {
    const { identity, keys } = trustedTeam(settings)
    const gate = new TeamGate(new TeamVerifier(identity, keys), { db, clock, log })
    return {
      govern: gate.govern.bind(gate),
      operations: deskHandlers(service, { own, sealedTables, sessionHours: identity.sessionHours }),
    }
  },
})

type ListSessions = (typeof operations)['gateway']['listSessions']

/** Answers the `listSessions` operation of any service. */
async function readMembers({ input }: Call<ListSessions>, { db }: Tools['query']): Promise<Reply<ListSessions>> {
  const rows = await db<WithTimes<TeamMember, 'latestSessionAt'>>`
    select person as name, person_id as id, kind, max(first_used_at) as latest_session_at
    from team_session where first_used_at >= ${input.since}::timestamptz
    group by person, person_id, kind order by latest_session_at desc, name limit ${teamMembersMax}
  `
  return { data: rows.map(withIsoTimes) }
}

type ListCommands = (typeof operations)['gateway']['listCommands']

/** As long as it takes until an alert fires. */
const stuckAfterSeconds = 60

/** Answers the `listCommands` operation of any service. Ids are ordered by time, so the oldest come first. */
async function readCommands({ input }: Call<ListCommands>, { db }: Tools['query']): Promise<Reply<ListCommands>> {
  const { commandId = null, after = '', limit } = input
  const rows = await db<WithTimes<StuckCommand, 'createdAt'>>`
    select id, name as operation, aggregate as subject, environment, created_at, attempts, last_fault,
      message #>> '{context,requestId}' as request_id
    from outbox
    where kind = 'command' and id > ${after}
      and case when ${commandId}::text is null
        -- PostgreSQL stamps them: one of the future was written by other means, and would never grow old.
        then created_at not between clock_timestamp() - make_interval(secs => ${stuckAfterSeconds}) and clock_timestamp() else id = ${commandId} end
    order by id limit ${limit + 1}
  `
  return toPage(rows.map(withIsoTimes), limit, ({ id }) => id)
}

/** Its first call stands for all of them in the audit trail. */
const sealStoredData = (operation: (typeof operations)['gateway']['sealStoredData'], tables: readonly SealedTable[]) =>
  handle(operation, async (call, { db, now }) => {
    const { after } = call.input
    if (after === undefined) await recordAction(db, operation, call, now)
    return renewSealed(db, tables, after).catch((error) => {
      throw error instanceof SyntaxError || error instanceof RangeError
        ? invalid('body', '/after', 'is no cursor')
        : error
    })
  })

/**
 * What the team may ask of any service.
 * @param own what the service has besides, some of which take two people
 */
function deskHandlers(
  service: ServiceName,
  {
    own,
    sealedTables,
    sessionHours,
  }: {
    readonly own: readonly Operation[]
    readonly sealedTables: readonly SealedTable[]
    readonly sessionHours: number
  },
): ReturnType<typeof handle>[] {
  // Each service has them in its own table. They differ in the service's name alone.
  const table = operations[service] as (typeof operations)['gateway']
  return [
    handle(table.listAudit, readAudit),
    handle(table.exportAudit, exportAudit(service)),
    handle(table.listSessions, readMembers),
    handle(table.listOwnSessions, readOwnSessions(sessionHours)),
    handle(table.listCommands, readCommands),
    handle(table.listProposals, readProposals),
    handle(table.declineProposal, declineProposal(own)),
    sealStoredData(table.sealStoredData, sealedTables),
  ]
}

/**
 * Up to which amount one person of the team may do alone in production what takes two above it, in the currency of each
 * brand. Unless it is set, it always takes two.
 */
export const aloneUpTo = Type.String({ pattern: '^\\d{1,13}\\.\\d{2}$', default: '0.00' })

/** Of payments, where withdrawals are paid, and of the wallet, whose reconciliation judges that. */
export const payAloneSettings = {
  /** Approving a withdrawal and paying it. */
  PAY_ALONE_UP_TO: aloneUpTo,
}

/** Of the wallet, and of the reconciler that judges it. */
export const playSettings = {
  /** What one win of a provider of games may be without two people, where nothing else was set for it. */
  PLAY_MAX_WIN: Type.String({ pattern: '^\\d{1,13}\\.\\d{2}$', default: '100000.00' }),
}
