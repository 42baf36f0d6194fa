import { type PlayerTable, sql, type Vault } from '@backoffice/service-runtime'
import { identityOf } from './sealed-identity.ts'

type Values = Readonly<Record<string, string | null>>

/** Without the sealed column and the digests, which nobody can read. */
function openPlayer(row: Values, vault: Vault): Values {
  const { sealed_identity: sealedIdentity = null, ...others } = row
  const { cpf_digest: _, email_digest: __, phone_digest: ___, ...values } = others
  const { id, email, cpf, phone = null } = values
  const clear = { email: email ?? '', cpf: cpf ?? '', phone }
  return { ...values, ...identityOf(vault, id ?? '', { ...clear, sealedIdentity }) }
}

/** Every table with rows about players, but for copies, which are purged after days. */
export const playerTables: readonly PlayerTable[] = [
  { table: 'player', key: 'id', isAbout: (playerId) => sql`id = ${playerId}`, open: openPlayer },
  { table: 'kyc_submission', key: 'id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'player_change', key: 'id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'taken_case', key: 'player_id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'game_session', key: 'id', isAbout: (playerId) => sql`player_id = ${playerId}` },
  { table: 'audit_entry', key: 'id', isAbout: (playerId) => sql`subject = ${playerId}` },
  { table: 'team_proposal', key: 'id', isAbout: (playerId) => sql`input ->> 'playerId' = ${playerId}` },
]
