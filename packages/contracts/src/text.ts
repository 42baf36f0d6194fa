/** What shows nothing: control and invisible characters, blanks that are none of Unicode's, line separators, halves of pairs. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu
/** Most text has nothing of all this. */
const plain = /^[ -~\u00a1-\u00ac\u00ae-\u024f]*$/

/** Scripts whose letters look alike. In one word only the letters of the first of them that it has are shown as they are. */
const alike = ['Latin', 'Cyrillic', 'Greek', 'Armenian', 'Cherokee', 'Coptic'].map((script) => ({
  script: new RegExp(`\\p{Script=${script}}`, 'u'),
  // Who writes Chinese, Japanese or Korean mixes them with Latin letters.
  others: new RegExp(
    `(?![\\p{Script_Extensions=${script}}${['Common', 'Inherited', 'Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo']
      .map((mixed) => `\\p{Script=${mixed}}`)
      .join('')}])\\p{L}`,
    'gu',
  ),
}))
/** A word as it is compared by sight: an address or a key is one, whatever its punctuation, and a value of JSON another. */
const word = /[^\s"'(),:;<>[\]{}]+/gu

const escaped = (character: string): string =>
  character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('')

function withMarkedLetters(text: string): string {
  const others = alike.find(({ script }) => script.test(text))?.others
  return others === undefined ? text : text.replace(others, escaped)
}

/**
 * Text as it may be shown to people. Operators, players and receivers of webhooks wrote parts of it: raw, it could move a
 * cursor, hide, reorder or join what stands beside it, or look like another text. What does not show by itself, or is of
 * another script than its word, is written as \u202e. Inside of JSON that is the same value.
 * @param kept characters that stay, such as line feeds
 */
export const visible = (text: string, kept = ''): string =>
  plain.test(text)
    ? text
    : text
        .replace(word, withMarkedLetters)
        .replace(unseen, (character) => (kept.includes(character) ? character : escaped(character)))

/**
 * Text in one form for all that people take for the same: without case and what does not show, in the compatible form of
 * each character, and with one blank for several.
 */
export const asSeen = (text: string): string =>
  text
    .replaceAll(unseen, '')
    .normalize('NFKC')
    .toLowerCase()
    .toUpperCase()
    .toLowerCase()
    .normalize('NFKC')
    .replaceAll(/\s+/gu, ' ')
    .trim()
