import type { Plugin } from '@backoffice/service-runtime'
import {
  type IdentitySettings,
  identityOf,
  identitySettings,
  TeamVerifier,
  trustedTeam,
} from '@backoffice/team-identity'
import { TeamGate } from './gate.ts'
import { deskHandlers } from './handlers.ts'
import type { SealedTable } from './sealed-tables.ts'

/**
 * Who of the team may do what in a service, with whom, and what is written down of it. Its tables are `teamTables`.
 * @param sealedTables tables of the service's own with sealed columns. It then has the `sealingSettings`
 */
export const teamDesk = ({
  sealedTables = [],
}: {
  readonly sealedTables?: readonly SealedTable[]
} = {}): Plugin<IdentitySettings> => ({
  settings: identitySettings,
  assertSettings: (settings) => void identityOf(settings),
  plug({ db, clock, log, service, settings, own }) {
    const { identity, keys } = trustedTeam(settings)
    return {
      gate: new TeamGate(new TeamVerifier(identity, keys), { db, clock, log }),
      operations: deskHandlers(service, { own, sealedTables, sessionHours: identity.sessionHours }),
    }
  },
})
