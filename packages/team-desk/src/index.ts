// What services do for the team beside their own work: who may do what and with whom, the audit trail, rows of lists and of
// a player's data.
export { aloneUpTo, payAloneSettings } from './alone-settings.ts'
export { unnamedSession } from './ended-sessions.ts'
export { withOperatorNames } from './operator-names.ts'
export { type PlayerTable, playerRows } from './player-rows.ts'
export { teamDesk } from './plugin.ts'
export type { SealedTable } from './sealed-tables.ts'
export { byService, insertAudit, readProvenEntries, recordAction } from './trail.ts'
export { reasonOf } from './two-people.ts'
