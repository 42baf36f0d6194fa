import t from 'tap'
import { nameWords } from '../../src/players/player.ts'

t.test('words of a name: no case, no accents, nothing between them', async (t) => {
  for (const [typed, words] of [
    ['Ana Souza', ['ana', 'souza']],
    ["  JOÃO  D'Ávila-Conceição ", ['joao', 'd', 'avila', 'conceicao']],
    ['jose\u0301', ['jose']],
    ["x':* | !y & (z)", ['x', 'y', 'z']],
    ['Мария 2', ['мария', '2']],
    ['--', []],
  ] as const)
    t.same(nameWords(typed), words, typed)
  t.equal(nameWords('a '.repeat(100)).length, 12)
})
