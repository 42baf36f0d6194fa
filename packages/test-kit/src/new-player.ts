import { randomInt, randomUUID } from 'node:crypto'
import { isCpf } from '@backoffice/contracts'

/** A valid CPF, digits only, that no other test uses: players who share one are the same person. */
export function newCpf(): string {
  const digits = String(randomInt(1e9)).padStart(9, '0')
  const checks = Array.from({ length: 100 }, (_, check) => `${digits}${String(check).padStart(2, '0')}`)
  // Nine times the same digit gives a number that is never issued.
  return checks.find(isCpf) ?? newCpf()
}

/** A valid registration of a person of its own. */
export const newPlayer = (overrides: Record<string, string> = {}) => ({
  externalId: `user-${randomUUID()}`,
  name: 'Ana Souza',
  email: 'ana@example.com',
  cpf: newCpf(),
  birthDate: '1990-05-17',
  ...overrides,
})
