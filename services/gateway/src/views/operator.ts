import { credentialsShownMax, type OperatorRecord } from '@backoffice/contracts'
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
    credentials: shown(
      brands.flatMap((brand) =>
        brand.credentials.getItems().map(({ key, createdAt, revokedAt = null }) => {
          return withIsoTimes({ key, environment: brand.environment, createdAt, revokedAt })
        }),
      ),
    ),
  }
}

/** Of very many credentials those in use, and then the newest. */
function shown(credentials: OperatorRecord['credentials']): OperatorRecord['credentials'] {
  if (credentials.length <= credentialsShownMax) return credentials
  const inUse = ({ revokedAt }: (typeof credentials)[number]) => Number(revokedAt === null)
  return credentials
    .sort((a, b) => inUse(b) - inUse(a) || b.createdAt.localeCompare(a.createdAt))
    .slice(0, credentialsShownMax)
}
