// What services do for the team beside their own work: rows of its lists and of a player's data, what one person may do
// alone.
export { aloneUpTo, payAloneSettings } from './alone-settings.ts'
export { withOperatorNames } from './operator-names.ts'
export { type PlayerTable, playerRows } from './player-rows.ts'
