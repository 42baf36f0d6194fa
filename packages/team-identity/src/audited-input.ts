import { identifies, type Operation } from '@backoffice/contracts'

const isSecret = (name: string): boolean => /secret|password/i.test(name)

/**
 * An input as the audit trail keeps it: without secrets, and with an empty text for what says who a player is, since the
 * trail is kept for good and a player's data are not.
 */
export function auditedInput(
  { body }: Operation,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const kept = Object.entries(given).filter(([name]) => !isSecret(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, identifiesIn(body, name) ? '' : value]))
}

const identifiesIn = ({ properties }: Operation['body'], name: string): boolean => {
  const schema = properties[name]
  return schema !== undefined && identifies(schema)
}

/** Whether the trail keeps all of an operation's input, so that the digest which was signed can be made from it again. */
export const isKeptWhole = ({ body }: Operation): boolean =>
  !Object.keys(body.properties).some((name) => isSecret(name) || identifiesIn(body, name))

/** What an input is about and why it was sent, as the audit trail shows it. @param input as the trail keeps it */
export const subjectAndReason = (
  input: Readonly<Record<string, unknown>>,
): { readonly subject: string | null; readonly reason: string | null } => ({
  subject: subjectOf(input),
  reason: typeof input.reason === 'string' ? input.reason : null,
})

/** The record that an action is about: its own id if it names one, else the player, operator, brand or name. */
function subjectOf(input: Readonly<Record<string, unknown>>): string | null {
  const names = Object.keys(input)
  const owners = ['brandId', 'operatorId', 'playerId']
  const name = [
    ...names.filter((key) => key.endsWith('Id') && !owners.includes(key)),
    'key',
    'playerId',
    'operatorId',
    'brandId',
    'name',
  ].find((key) => typeof input[key] === 'string' && input[key] !== '')
  return name === undefined ? null : String(input[name])
}
