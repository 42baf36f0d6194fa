import { type Environment, type KycStatus, operations } from '@backoffice/contracts'
import { query } from '@backoffice/service-runtime'
import { sql } from 'kysely'

interface Waiting {
  playerId: string
  operatorId: string
  brandId: string
  environment: Environment
  name: string
  kycStatus: KycStatus
  submissions: number
  latestDocumentType: string
  latestReference: string
  waitingSince: Date
}

export const kycQueue = query(operations.players.kycQueue, async ({ input }, tools) => {
  const { rows } = await sql<Waiting>`
    select p.id as "playerId", p.operator_id as "operatorId", p.brand_id as "brandId", p.environment, p.name,
      p.kyc_status as "kycStatus", s.submissions, s.document_type as "latestDocumentType", s.reference as "latestReference",
      s.submitted_at as "waitingSince"
    from player p
    join lateral (
      select document_type, reference, submitted_at, (count(*) over ())::int as submissions
      from kyc_submission where player_id = p.id order by submitted_at desc, id desc limit 1
    ) s on true
    where p.kyc_status in ('pendente', 'em_analise')
      and (${input.brandId ?? null}::text is null or p.brand_id = ${input.brandId ?? null})
    order by s.submitted_at
    limit ${input.limit}
  `.execute(tools.sql)
  return { data: rows.map((row) => ({ ...row, waitingSince: new Date(row.waitingSince).toISOString() })) }
})
