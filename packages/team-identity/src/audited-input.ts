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

/** What an input is about and why it was sent, as the audit trail shows it. */
export const subjectAndReason = (
  input: Readonly<Record<string, unknown>>,
): { readonly subject: string | null; readonly reason: string | null } => ({
  subject: subjectOf(input),
  reason: typeof input.reason === 'string' ? input.reason : null,
})

/** The record that an action is about: its own id if it names one, else the operator, brand or name. */
function subjectOf(input: Readonly<Record<string, unknown>>): string | null {
  const names = Object.keys(input)
  const owners = ['brandId', 'operatorId']
  const name = [
    ...names.filter((key) => key.endsWith('Id') && !owners.includes(key)),
    'key',
    'operatorId',
    'brandId',
    'name',
  ].find((key) => typeof input[key] === 'string')
  return name === undefined ? null : String(input[name])
}
