import pg from 'pg'

/**
 * The present of a test, for the services' processes and for `now()` of their PostgreSQL, which decides for all replicas.
 * The database of the test has a function of that name, which the services' roles find before PostgreSQL's own, and which
 * stamps what PostgreSQL itself stamps.
 */
export class TestTime {
  #at: Date | null
  readonly #databases: string[] = []

  /** @param at null: the system's time, until the test sets another */
  constructor(at: Date | null = null) {
    this.#at = at
  }

  now(): Date {
    return this.#at ?? new Date()
  }

  /** @param at null: the system's time */
  async set(at: Date | null): Promise<void> {
    this.#at = at
    for (const url of this.#databases) await this.#tell(url)
  }

  /**
   * Before the services connect to the database.
   * @param url the superuser's
   * @param services whose present it is to be
   */
  async install(url: string, services: readonly string[] = []): Promise<void> {
    await asSuperuser(
      url,
      `create schema test_time;
       grant usage on schema test_time to public;
       create table test_time.present (at timestamptz);
       insert into test_time.present values (null);
       create function test_time.now() returns timestamptz language sql stable security definer
         as 'select coalesce(at, pg_catalog.now()) from test_time.present';
       do $$ declare stamped record; begin
         for stamped in select adrelid::regclass as name, attname from pg_attrdef
           join pg_attribute on (attrelid, attnum) = (adrelid, adnum) where pg_get_expr(adbin, adrelid) = 'now()' loop
           execute format('alter table %s alter column %I set default test_time.now()', stamped.name, stamped.attname);
         end loop;
         ${services
           .flatMap((service) => [service, `${service}_reader`].map((role) => [role, searchPathOf(service)]))
           .map(
             ([role, path]) =>
               `execute format('alter role backoffice_${role} in database %I set search_path = ${path}', current_database());`,
           )
           .join('\n')}
       end $$`,
    )
    this.#databases.push(url)
    await this.#tell(url)
  }

  #tell(url: string): Promise<void> {
    const at = this.#at === null ? 'null' : `'${this.#at.toISOString()}'`
    return asSuperuser(url, `update test_time.present set at = ${at}`)
  }
}

/** With it another connection has the present of the test too. */
export const searchPathOf = (service: string): string => `${service}, test_time, pg_catalog`

/** Where it is about noon: whoever spends a daily limit by the real clock meets no midnight there. */
export const timeZoneAtNoon = (): string => {
  const west = new Date().getUTCHours() - 12 || -1
  return `Etc/GMT${west > 0 ? '+' : ''}${west}`
}

async function asSuperuser(url: string, statements: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statements)
  } finally {
    await client.end()
  }
}
