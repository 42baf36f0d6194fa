import { newCpf } from '@backoffice/test-kit'

let players = 0

/** A valid registration of a person of its own. */
export function newPlayer(overrides: Record<string, string> = {}) {
  players += 1
  return {
    externalId: `user-${players}`,
    name: 'Ana Souza',
    email: 'ana@example.com',
    cpf: newCpf(),
    birthDate: '1990-05-17',
    ...overrides,
  }
}
