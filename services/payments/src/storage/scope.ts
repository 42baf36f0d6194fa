import type { Scope } from '@backoffice/contracts'

/**
 * The operator and brand of a record. They are stored with it, so that the service can later act for that brand by
 * itself.
 */
export function scopeOf({ operatorId, brandId, environment, currency, timeZone }: Scope): Scope {
  return { operatorId, brandId, environment, currency, timeZone }
}

/** The record, if it belongs to the brand. A record of another brand is as unknown as one that does not exist. */
export function ofBrand<R extends Scope>(record: R | undefined, brandId: string): R | undefined {
  return record?.brandId === brandId ? record : undefined
}
