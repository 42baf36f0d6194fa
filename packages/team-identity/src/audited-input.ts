import { hasSealed, type Operation, takeOut } from '@backoffice/contracts'

const isSecret = (name: string): boolean => /secret|password/i.test(name)

/**
 * An input as the audit trail keeps it: without secrets, and without what must be encrypted, since the trail is kept for
 * good and a player's data are not.
 */
export function auditedInput({ body }: Operation, given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const input = takeOut(body, given).rest as Readonly<Record<string, unknown>>
  return Object.fromEntries(Object.entries(input).filter(([name]) => !isSecret(name)))
}

/** Whether the trail keeps all of an operation's input, so that the digest which was signed can be made from it again. */
export const isKeptWhole = ({ body }: Operation): boolean =>
  !hasSealed(body) && !Object.keys(body.properties).some(isSecret)
