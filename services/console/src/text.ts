/** Control characters but line ends and tabs, invisible characters (those that turn text around among them), halves of pairs. */
const unseen = /(?![\n\r\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu

/**
 * Text as it may be shown. What does not show by itself could hide, reorder or join what stands beside it, so it is
 * written as \u202e.
 */
export const visible = (text: string): string =>
  text.replace(unseen, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  )
