import { type KycStatus, Rejection } from '@backoffice/contracts'

/**
 * What a submission makes of the status: whatever it was, the documents are now under analysis.
 * @throws {Rejection} KYC_ALREADY_APPROVED
 */
export function submit(status: KycStatus): KycStatus {
  if (status === 'aprovado') throw new Rejection('KYC_ALREADY_APPROVED')
  return 'em_analise'
}

export interface KycRecord {
  readonly kycStatus: KycStatus
  readonly kycVersion: number
}

/** A decision, or null when it is the status already: then nothing changes and nobody is told. */
export function decide(
  record: KycRecord,
  status: KycStatus,
): { readonly status: KycStatus; readonly version: number } | null {
  if (record.kycStatus === status) return null
  return { status, version: record.kycVersion + 1 }
}
