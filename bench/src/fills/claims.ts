import type { Subject } from '../stack/subject.ts'

/**
 * Stores claims as a busy day leaves them: creations with replies, under random keys. None expires while the bench runs.
 */
export async function fillClaims(subject: Subject, count: number): Promise<void> {
  const { operatorId, environment } = subject.scope
  await subject.withSql(async (client) => {
    await client.query(
      `insert into gateway.claim (operator_id, environment, key, fingerprint, operation, operation_id, token, expires_at,
         status, content_type, body, request_id)
       select $1, $2, key, sha256(key::bytea), 'createDeposit', 'opn_' || key, key::uuid,
         now() + interval '2 hours' + interval '20 hours' * random(), 201, 'application/json; charset=utf-8',
         convert_to(repeat('{"id":"dep_","status":"pending"}', 10), 'UTF8'), 'req_' || key
       from generate_series(1, $3::int), lateral (select gen_random_uuid()::text as key where generate_series > 0) k`,
      [operatorId, environment, count],
    )
    await client.query('vacuum analyze gateway.claim')
    await client.query('checkpoint')
  })
}
