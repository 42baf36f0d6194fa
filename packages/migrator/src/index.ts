export { migratorConfig, preflightConfig, streamConfig } from './config.ts'
export { type AppliedMigrations, prepareDatabase, type RolePasswords, services } from './prepare-database.ts'
