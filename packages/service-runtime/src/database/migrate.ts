import { roleName, type ServiceName } from '@backoffice/contracts'
import { Migrator, Migration as MikroMigration } from '@mikro-orm/migrations'
import { MikroORM } from '@mikro-orm/postgresql'
import type { Migration } from './runtime-tables.ts'

/**
 * Brings a service's schema up to date. Runs as the owner of the schemas, never as the service's own role.
 * @returns the names of the migrations that were applied
 */
export async function migrate({
  service,
  migrations,
  url,
}: {
  readonly service: ServiceName
  readonly migrations: readonly Migration[]
  readonly url: string
}): Promise<string[]> {
  const orm = await MikroORM.init({
    clientUrl: url,
    schema: service,
    entities: [],
    discovery: { warnWhenNoEntities: false },
    extensions: [Migrator],
    migrations: {
      migrationsList: migrations.map(toClass),
      tableName: 'migration',
      snapshot: false,
      allOrNothing: true,
      silent: true,
    },
    ensureDatabase: false,
    // As in connect.ts, the URL says whether TLS is used.
    driverOptions: { connectionString: url },
    pool: { min: 0, max: 1 },
  })
  try {
    const applied = await orm.migrator.up()
    // This table came with the rights of any other. Whoever could write it could have a migration left out, or run again.
    await orm.em.getConnection().execute(`revoke all on ${service}.migration from ${roleName(service)}`)
    return applied.map(({ name }) => name)
  } finally {
    await orm.close()
  }
}

const toClass = ({ name, sql }: Migration) => ({
  name,
  class: class extends MikroMigration {
    override up(): void {
      this.addSql(sql)
    }
  },
})
