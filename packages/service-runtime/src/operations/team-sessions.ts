import type { TeamCaller } from '@backoffice/team-identity'
import type { Db } from '../database/db.ts'

/** Sessions that this process has written. */
const written = new WeakMap<object, Set<string>>()
const writtenMax = 10_000

/**
 * Keeps the ID token of a session, once: with it, the proofs of the audit trail can be verified later, by somebody who
 * trusts no service.
 */
export async function rememberSession(db: Db, caller: TeamCaller, now: Date): Promise<void> {
  const known = written.get(db.vault) ?? new Set()
  written.set(db.vault, known)
  const { session, name, kind, evidence } = caller
  const key = `${session} ${evidence.idToken ?? name}`
  if (known.has(key)) return
  await db`
    insert into team_session (session, person, kind, id_token, first_used_at)
    values (${session}, ${name}, ${kind}, ${evidence.idToken ?? null}, ${now}::timestamptz)
    on conflict do nothing
  `
  if (known.size >= writtenMax) known.clear()
  known.add(key)
}
