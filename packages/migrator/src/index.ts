export { migratorConfig, preflightConfig, streamConfig } from './config.ts'
export { type AppliedMigrations, prepareDatabases, type RolePasswords, services } from './prepare-database.ts'
