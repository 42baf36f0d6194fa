// Roles and schemas, for what prepares a database otherwise than by the whole program: the test kit.

import type { migrate as Migrate } from './migrate.ts'

export { provisionDatabase, settingsOf } from './provision.ts'
export { services } from './services.ts'

/** MikroORM is the largest thing in a process, and hardly any test finds its template missing. */
export const migrate: typeof Migrate = async (...given) => (await import('./migrate.ts')).migrate(...given)
