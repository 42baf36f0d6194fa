// What services do for the team beside their own work: who may do what and with whom, the audit trail, rows of lists and of
// a player's data.
export { reasonOf } from './approval/two-people.ts'
export { aloneUpTo, payAloneSettings, playSettings, teamPlugin } from './plugin.ts'
export { type Asking, type PlayerTable, playerRows, timeByDay, withOperatorNames } from './rows.ts'
export type { SealedTable } from './sealed-tables.ts'
export { unnamedSession } from './trail/sessions.ts'
export { byService, insertAudit, readProvenEntries, readSignedCall, recordAction } from './trail/trail.ts'
