import { apiVersion, type operations, type Reply, type Scope } from '@backoffice/contracts'

/** Who a credential stands for. */
export function showMe({
  scope,
  operatorName,
  brandName,
}: {
  readonly scope: Scope
  readonly operatorName: string
  readonly brandName: string
}): Reply<typeof operations.gateway.getMe> {
  return {
    operator: { id: scope.operatorId, name: operatorName, environment: scope.environment },
    brand: { id: scope.brandId, name: brandName, currency: scope.currency, isSandbox: scope.environment === 'sandbox' },
    apiVersion,
  }
}
