import type { ReadDb } from '@backoffice/service-runtime'

/** The entity manager and the entities, which the first edit by the team loads. */
export async function records(db: ReadDb) {
  const [em, entities] = await Promise.all([db.em(), import('./entities.ts')])
  return { em, ...entities }
}
