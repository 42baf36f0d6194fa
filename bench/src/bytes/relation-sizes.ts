import { serviceNames } from '@backoffice/contracts'
import type pg from 'pg'

/** Bytes of one table. A partitioned table counts as one, with all its partitions. */
export interface TableBytes {
  readonly heap: number
  readonly indexes: number
  /** Values that are too large for a row. */
  readonly toast: number
}

/** Each relation with the table that it belongs to: a partition, an index and a TOAST table belong to a table. */
const relations = `
  with recursive part as (
    select c.oid, n.nspname || '.' || c.relname as table_name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and not c.relispartition and n.nspname = any($1)
    union all select i.inhrelid, part.table_name from part join pg_inherits i on i.inhparent = part.oid
  ), relation as (
    select oid, table_name, 'heap' as kind from part
    union all select x.indexrelid, table_name, 'indexes' from part join pg_index x on x.indrelid = part.oid
    union all select c.reltoastrelid, table_name, 'toast' from part join pg_class c on c.oid = part.oid where c.reltoastrelid <> 0
    union all select x.indexrelid, table_name, 'toast' from part join pg_class c on c.oid = part.oid
      join pg_index x on x.indrelid = c.reltoastrelid
  )
`

/** How large each table of the services is now. */
export async function readSizes(client: pg.Client): Promise<ReadonlyMap<string, TableBytes>> {
  const { rows } = await client.query<{ table: string; heap: string; indexes: string; toast: string }>(
    `${relations}
    select table_name as table, sum(pg_relation_size(oid)) filter (where kind = 'heap') as heap,
      coalesce(sum(pg_relation_size(oid)) filter (where kind = 'indexes'), 0) as indexes,
      coalesce(sum(pg_relation_size(oid)) filter (where kind = 'toast'), 0) as toast
    from relation group by 1`,
    [serviceNames],
  )
  return new Map(
    rows.map(({ table, heap, indexes, toast }) => [
      table,
      { heap: Number(heap), indexes: Number(indexes), toast: Number(toast) },
    ]),
  )
}

export interface WalBytes {
  /** What a table's rows and indexes wrote, by table. Images of whole pages are left out: they depend on checkpoints. */
  readonly byTable: ReadonlyMap<string, number>
  /** Of all tables, and what belongs to none, such as commits. */
  readonly total: number
}

export async function readPosition(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ lsn: string }>('select pg_current_wal_flush_lsn()::text as lsn')
  return rows[0]?.lsn ?? '0/0'
}

/** What was written to the write-ahead log between two positions. Needs PostgreSQL's extension pg_walinspect. */
export async function readWal(client: pg.Client, from: string, to: string): Promise<WalBytes> {
  const { rows: totals } = await client.query<{ bytes: string }>(
    'select coalesce(sum(record_size), 0) as bytes from pg_get_wal_stats($1, $2)',
    [from, to],
  )
  const { rows } = await client.query<{ table: string; bytes: string }>(
    `${relations}
    select table_name as table, sum(w.record_length - coalesce(w.block_fpi_length, 0)) as bytes
    from pg_get_wal_block_info($2, $3) w
    join pg_class c on pg_relation_filenode(c.oid) = w.relfilenode join relation r on r.oid = c.oid
    -- A record may touch several pages, and belongs to the table of its first.
    where w.block_id = 0 group by 1`,
    [serviceNames, from, to],
  )
  return {
    byTable: new Map(rows.map(({ table, bytes }) => [table, Number(bytes)])),
    total: Number(totals[0]?.bytes ?? 0),
  }
}
