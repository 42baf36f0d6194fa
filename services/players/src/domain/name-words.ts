/** As many as a long name has. */
const wordsMax = 12

/**
 * The words of what somebody types for a name, as the index of names has them: in small letters, without accents and without
 * what stands between words.
 */
export function nameWords(typed: string): string[] {
  const plain = typed
    .normalize('NFD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .toLowerCase()
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).slice(0, wordsMax)
}
