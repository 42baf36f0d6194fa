/** The key of an endpoint: there is one per operator and environment. */
export function endpointId({
  operatorId,
  environment,
}: {
  readonly operatorId: string
  readonly environment: string
}): string {
  return `${operatorId}/${environment}`
}
