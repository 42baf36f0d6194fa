export { migratorConfig } from './config.ts'
export { migrationsOf } from './migrations.ts'
export { type AppliedMigrations, prepareDatabase, type RolePasswords } from './prepare-database.ts'
