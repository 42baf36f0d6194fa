// Roles and schemas, for what prepares a database otherwise than by the whole program: the test kit.
export { migrate } from './migrate.ts'
export { provisionDatabase, settingsOf } from './provision.ts'
