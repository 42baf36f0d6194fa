import type { Plugin } from '@backoffice/service-runtime/plugin'
import {
  type IdentitySettings,
  identityOf,
  identitySettings,
  TeamVerifier,
  trustedTeam,
} from '@backoffice/team-identity'
import { TeamGate } from './gate.ts'
import { deskHandlers } from './handlers.ts'

/** Who of the team may do what in a service, with whom, and what is written down of it. Its tables are `teamTables`. */
export const teamDesk: Plugin<IdentitySettings> = {
  settings: identitySettings,
  assertSettings: (settings) => void identityOf(settings),
  plug({ db, clock, log, service, settings, own }) {
    const { identity, keys } = trustedTeam(settings)
    return {
      gate: new TeamGate(new TeamVerifier(identity, keys), { db, clock, log }),
      operations: deskHandlers(service.name, own, service.sealedTables ?? []),
    }
  },
}
