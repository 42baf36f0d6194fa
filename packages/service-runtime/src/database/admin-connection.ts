import { Client } from 'pg'

export { escapeIdentifier as quoteIdentifier, escapeLiteral as quoteLiteral } from 'pg'

/** Runs with one connection of the administrator's, which is closed whatever happens. */
export async function connectOnce<T>(url: string, run: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.end()
  }
}
