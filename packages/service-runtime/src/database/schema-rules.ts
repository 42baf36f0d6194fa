import { roleName, type ServiceName } from '@backoffice/contracts'

// What several tables ask of their rows, as SQL for the migration that creates them. A rule that PostgreSQL keeps holds for
// everybody, whatever code or person writes.

/** A table with its schema: `schema.table`. */
type Table = `${ServiceName}.${string}`

const schemaOf = (table: Table): ServiceName => table.split('.')[0] as ServiceName

/** The functions that the triggers below call. Each schema has them. */
export const refusals = (schema: ServiceName): string => `
create function ${schema}.refuse_change() returns trigger language plpgsql as $$
begin raise exception 'append-only: % on %.%', tg_op, tg_table_schema, tg_table_name; end $$;
create function ${schema}.refuse_edit() returns trigger language plpgsql as $$
begin raise exception 'kept as it was written: % on %.%', tg_op, tg_table_schema, tg_table_name; end $$;
`

/** Nobody changes or removes a row: rights say so to the service, triggers say so to everybody. */
export const appendOnly = (table: Table): string => `
create trigger append_only before update or delete on ${table} for each row execute function ${schemaOf(table)}.refuse_change();
create trigger append_only_truncate before truncate on ${table} execute function ${schemaOf(table)}.refuse_change();
revoke update, delete on ${table} from ${roleName(schemaOf(table))};
`

/** Nobody removes a row. */
export const neverDeleted = (table: Table): string => `
create trigger keep_records before delete on ${table} for each row execute function ${schemaOf(table)}.refuse_change();
create trigger keep_records_truncate before truncate on ${table} execute function ${schemaOf(table)}.refuse_change();
revoke delete on ${table} from ${roleName(schemaOf(table))};
`

/** What differs between the former and the new row of an UPDATE. Where nothing of it does, that costs nothing. */
export const changed = (...columns: readonly string[]): string =>
  `(${columns.map((column) => `new.${column}`).join(', ')}) is distinct from (${columns.map((column) => `old.${column}`).join(', ')})`

/**
 * A row that a service may write without a person, in the sandbox only.
 * @param when which rows of the table are meant
 * @param record the column of the table that names the record, and the table of that record, which has a `brand_id`
 */
export const onlyInSandbox = (
  table: Table,
  { when, column, record }: { readonly when: string; readonly column: string; readonly record: Table },
): string => `
create function ${schemaOf(table)}.refuse_outside_sandbox() returns trigger language plpgsql as $$
begin
  if not exists (
    select from ${record} r join ${schemaOf(table)}.brand b on b.id = r.brand_id
    where r.id = new.${column} and b.environment = 'sandbox'
  ) then
    raise exception 'only in the sandbox: %', new.${column};
  end if;
  return new;
end $$;
create trigger only_in_sandbox before insert on ${table} for each row
  when (${when}) execute function ${schemaOf(table)}.refuse_outside_sandbox();
`
