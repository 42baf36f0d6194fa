// Roles and schemas, for what prepares a database otherwise than by the whole program: the test kit.
export { migrate } from './migrate.ts'
export { provisionDatabase } from './provision.ts'
export { settingsOf } from './role-settings.ts'
