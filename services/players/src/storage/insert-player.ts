import type { Sql } from '@backoffice/service-runtime'
import { sql } from 'kysely'

export interface NewPlayer {
  readonly id: string
  readonly operatorId: string
  readonly brandId: string
  readonly environment: string
  readonly currency: string
  readonly timeZone: string
  readonly externalId: string
  readonly name: string
  readonly email: string
  readonly cpf: string
  readonly phone: string | null
  readonly birthDate: string
  readonly createdAt: Date
}

/** False when the brand has a player with this externalId already. */
export async function insertPlayer(connection: Sql, player: NewPlayer): Promise<boolean> {
  const { rows } = await sql`
    insert into player (id, operator_id, brand_id, environment, currency, time_zone, external_id, name, email, cpf, phone,
      birth_date, status, kyc_status, kyc_version, created_at)
    values (${player.id}, ${player.operatorId}, ${player.brandId}, ${player.environment}, ${player.currency}, ${player.timeZone},
      ${player.externalId}, ${player.name}, ${player.email}, ${player.cpf}, ${player.phone}, ${player.birthDate}::date,
      'ativo', 'nao_iniciado', 1, ${player.createdAt}::timestamptz)
    on conflict (brand_id, external_id) do nothing returning true
  `.execute(connection)
  return rows.length > 0
}
