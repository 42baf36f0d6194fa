import type { Scope } from '@backoffice/contracts'

/** Whom a record belongs to: written with it, so that the service can act for that brand again on its own. */
export function scopeOf({ operatorId, brandId, environment, currency, timeZone }: Scope): Scope {
  return { operatorId, brandId, environment, currency, timeZone }
}
