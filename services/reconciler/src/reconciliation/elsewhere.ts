import type { ServiceName } from '@backoffice/contracts'
import { type ReadDb, sql } from '@backoffice/service-runtime'

/**
 * The services whose records stand in another database than the ledger, each with the schema in which this one shows the
 * moments of that other: `linkDatabases` of the migrator makes it.
 */
export type Elsewhere = ReadonlyMap<ServiceName, string>

export async function readElsewhere(db: ReadDb): Promise<Elsewhere> {
  const rows = await db<{ service: ServiceName; moments: string }>`
    select distinct c.relnamespace::regnamespace::text as service, s.srvname::text as moments
    from pg_foreign_table f join pg_foreign_server s on s.oid = f.ftserver join pg_class c on c.oid = f.ftrelid
  `
  return new Map(rows.map(({ service, moments }) => [service, moments]))
}

/** Where the moments of the database stand in which a service lives. */
export const momentsOf = (service: ServiceName, elsewhere: Elsewhere) =>
  sql`${sql.identifier(elsewhere.get(service) ?? 'reconciler')}.moment`
