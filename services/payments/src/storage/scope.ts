import type { Scope } from '@backoffice/contracts'

/** Whom a record belongs to: written with it, so that the service can act for that brand again on its own. */
export function scopeOf({ operatorId, brandId, environment, currency, timeZone }: Scope): Scope {
  return { operatorId, brandId, environment, currency, timeZone }
}

/** A record that belongs to the brand: another brand's is as unknown to its operator as one that does not exist. */
export function ofBrand<R extends Scope>(record: R | undefined, brandId: string): R | undefined {
  return record?.brandId === brandId ? record : undefined
}
