// Roles and schemas, for the whole program and for what prepares a database otherwise: the test kit.

import type { ServiceName } from '@backoffice/contracts'
import { migrations as gateway } from '@backoffice/gateway/migrations'
import { migrations as payments } from '@backoffice/payments/migrations'
import { migrations as players } from '@backoffice/players/migrations'
import { migrations as reconciler } from '@backoffice/reconciler/migrations'
import type { Migration } from '@backoffice/service-runtime'
import { migrations as wallet } from '@backoffice/wallet/migrations'
import { migrations as webhooks } from '@backoffice/webhooks/migrations'
import type { migrate as Migrate } from './migrate.ts'

export { provisionDatabase, settingsOf } from './provision.ts'

interface MigratedService {
  readonly name: ServiceName
  readonly migrations: readonly Migration[]
}

/** Everything that has a schema. Of each service only what the Job needs is loaded: it runs before all else starts. */
export const services: readonly MigratedService[] = Object.entries({
  gateway,
  players,
  wallet,
  payments,
  webhooks,
  reconciler,
}).map(([name, migrations]) => ({ name: name as ServiceName, migrations }))

/** MikroORM is the largest thing in a process, and hardly any test finds its template missing. */
export const migrate: typeof Migrate = async (...given) => (await import('./migrate.ts')).migrate(...given)
