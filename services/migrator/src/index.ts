export { migratorConfig, preflightConfig, streamConfig } from './config.ts'
export { type AppliedMigrations, prepareDatabases, type RolePasswords } from './prepare-database.ts'
export { services } from './schema.ts'
