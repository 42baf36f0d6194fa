import { fileURLToPath } from 'node:url'
import type { ServiceName } from '@backoffice/contracts'
import type { NamedMigration } from '@backoffice/service-runtime'

// By path: services are tested on databases that this package prepares, and a package dependency both ways would be a
// circle.
export async function migrationsOf(service: ServiceName): Promise<readonly NamedMigration[]> {
  const path = fileURLToPath(new URL(`../../../services/${service}/src/storage/migrations/index.ts`, import.meta.url))
  const { migrations } = (await import(path)) as { migrations: readonly NamedMigration[] }
  return migrations
}
