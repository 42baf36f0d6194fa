import { Client } from 'pg'

export { escapeIdentifier as quoteIdentifier, escapeLiteral as quoteLiteral } from 'pg'

/** Runs `run` over one connection of the administrator, and closes it whatever happens. */
export async function connectOnce<T>(url: string, run: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.end()
  }
}
