let players = 0

/** A valid registration, with its own externalId. */
export function newPlayer(overrides: Record<string, string> = {}) {
  players += 1
  return {
    externalId: `user-${players}`,
    name: 'Ana Souza',
    email: 'ana@example.com',
    cpf: '529.982.247-25',
    birthDate: '1990-05-17',
    ...overrides,
  }
}
