import t from 'tap'
import { asSeen, visible } from '../src/index.ts'

const codePoints = (has: RegExp): string[] =>
  Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter((character) => has.test(character))
const code = /^(\\u[0-9a-f]{4}){1,2}$/

t.test('whatever shows nothing by itself is shown as its code, and is no part of what is compared', async (t) => {
  const unseen = codePoints(/[\p{Default_Ignorable_Code_Point}\p{Cc}\p{Cf}\p{Cs}\u2800\u2028\u2029]/u)
  t.ok(unseen.length > 4_000)
  t.same(
    unseen.filter((character) => !code.test(visible(character))),
    [],
  )
  t.same(
    unseen.filter((character) => asSeen(`mule${character}@example.com${character}`) !== 'mule@example.com'),
    [],
  )
  t.equal(visible('one\n\ttwo\r\u2028', '\n\r\t'), 'one\n\ttwo\r\\u2028', 'but what is to stay')
})

t.test('a letter of another script than its word is shown as its code, and so is no word of one script', async (t) => {
  for (const [text, shown] of [
    ['mul\u0435@example.com', 'mul\\u0435@example.com'],
    ['\u0441\u043e\u0441\u043e@example.com', '\\u0441\\u043e\\u0441\\u043e@example.com'],
    ['\u0410na Souza', '\\u0410na Souza'],
    ['\u041f\u03b1\u043f\u0430', '\u041f\\u03b1\u043f\u0430'],
    ['a\u0501\u{10dd}', 'a\\u0501\\u10dd'],
  ] as const)
    t.equal(visible(text), shown)
  for (const text of [
    'Jo\u00e3o da Concei\u00e7\u00e3o, 3\u00ba andar',
    'Joa\u0303o',
    '\u0418\u0432\u0430\u043d Ivanov',
    '{"name":"\u0418\u0432\u0430\u043d"}',
    '\u6771\u4eac Tower, \u6771\u4eacTower',
    'R$\u00a01.234,56 \u2013 \u20ac',
  ])
    t.equal(visible(text), text)
})

t.test('what differs in case, width or blanks alone is compared as one text', async (t) => {
  for (const [one, other] of [
    ['Ana  Souza ', 'ana souza'],
    ['\uff4dule@example.com', 'MULE@example.com'],
    ['Stra\u00dfe', 'STRASSE'],
    ['Joa\u0303o', 'Jo\u00e3o'],
    ['\uff15\uff12', '52'],
    ['a\u00a0b', 'a b'],
  ] as const)
    t.equal(asSeen(one), asSeen(other))
  t.not(asSeen('mul\u0435@example.com'), asSeen('mule@example.com'))
  const characters = codePoints(/(?![\p{Script=Han}\p{Script=Hangul}\p{Co}\p{Cn}\p{Cs}])./su)
  t.same(
    characters.filter((character) => asSeen(asSeen(`a${character}b`)) !== asSeen(`a${character}b`)),
    [],
    'and its form is the same of its form',
  )
})
