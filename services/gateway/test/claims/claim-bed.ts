import { randomUUID } from 'node:crypto'
import { type Teardown, testBed } from '@backoffice/test-kit'
import type { StoredResponse } from '../../src/claims/claim.ts'
import { type ClaimKey, type ClaimRequest, claimKeys, storeResponses } from '../../src/claims/records.ts'
import { gateway } from '../../src/service.ts'

export const newKey = (): ClaimKey => ({ operatorId: 'op_1', environment: 'sandbox', key: randomUUID() })
export const response = (text: string): StoredResponse => ({
  status: 201,
  contentType: 'application/json',
  body: Buffer.from(text),
  requestId: `req_${text}`,
})

/** A request for a key, with a token and an operation id of its own. */
export function requestFor(
  key: ClaimKey,
  { fingerprint = 'same', leaseMs = 60_000, signature = '' } = {},
): ClaimRequest {
  const token = randomUUID()
  return {
    ...key,
    fingerprint: Buffer.from(fingerprint),
    operation: 'createDeposit',
    operationId: `opn_${token}`,
    token,
    leaseMs,
    signatureDigest: signature === '' ? null : Buffer.from(signature),
  }
}

/** A gateway, with what its tests do to claims. */
export async function claimBed(t: Teardown) {
  const bed = await testBed(t, { gateway })
  const { db } = bed.services.gateway
  const admin = bed.sql('admin')
  return {
    bed,
    db,
    admin,
    /** One claim in a batch of its own. */
    claim(key: ClaimKey, options?: Parameters<typeof requestFor>[1]) {
      const request = requestFor(key, options)
      return { ...request, outcome: claimKeys(db, [request]).then(([claimed]) => claimed) }
    },
    store: async (attempt: ClaimRequest, text: string) =>
      (await storeResponses(db, [{ ...attempt, response: response(text) }]))[0],
    /** What time does to a claim. */
    expire: ({ key }: ClaimKey) =>
      admin.query(`update gateway.claim set expires_at = now() - interval '1 second' where key = $1`, [key]),
    endLease: ({ key }: ClaimKey) =>
      admin.query(`update gateway.claim set leased_until = now() - interval '1 second' where key = $1`, [key]),
  }
}
export type ClaimBed = Awaited<ReturnType<typeof claimBed>>
