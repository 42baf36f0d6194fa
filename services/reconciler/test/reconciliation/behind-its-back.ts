import type { Pool } from 'pg'

/** What somebody with the rights of an administrator, for whom no trigger speaks, could do behind the ledger's back. */
export async function behindItsBack(admin: Pool, statement: string, values: readonly unknown[]): Promise<void> {
  const client = await admin.connect()
  try {
    await client.query("set session_replication_role = 'replica'")
    const { rowCount } = await client.query(statement, [...values])
    if (rowCount === 0) throw new Error('nothing was changed')
  } finally {
    await client.query("set session_replication_role = 'origin'")
    client.release()
  }
}
