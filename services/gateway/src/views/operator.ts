import type { OperatorRecord } from '@backoffice/contracts'
import { withIsoTimes } from '@backoffice/service-runtime'
import type { OperatorWithBrands } from '../storage/operators.ts'

/** An operator as the team sees it: with brands and credentials, without secrets. */
export function showOperator(operator: OperatorWithBrands): OperatorRecord {
  const brands = operator.brands.getItems()
  return {
    id: operator.id,
    name: operator.name,
    status: operator.suspendedAt ? 'suspended' : 'active',
    rateLimitPerMinute: operator.rateLimitPerMinute,
    allowedAddresses: [...operator.allowedAddresses],
    replayProtection: operator.replayProtection ? 'on' : 'off',
    createdAt: operator.createdAt.toISOString(),
    brands: brands.map(({ id, environment, name, currency, timeZone }) => {
      return { id, environment, name, currency, timeZone }
    }),
    credentials: brands.flatMap((brand) =>
      brand.credentials.getItems().map(({ key, createdAt, revokedAt = null }) => {
        return withIsoTimes({ key, environment: brand.environment, createdAt, revokedAt })
      }),
    ),
  }
}
