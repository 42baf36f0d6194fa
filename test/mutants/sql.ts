/** A change of a piece of text: what stands from `start` to `end` becomes `replacement`. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly replacement: string
  /** The expression that the change is part of, where the change alone says little. */
  readonly within?: { readonly start: number; readonly end: number }
}

/** Where a condition ends, unless it is in brackets. */
const clause =
  /\b(?:and|or|order by|group by|limit|for (?:no key )?update|returning|having|on conflict|union|(?:left |full |cross )?join|case|when|then|else|end|set|do)\b|[()]/g

/** Words whose opposite, or whose absence, is a mistake that somebody could make. */
const replaced: readonly (readonly [RegExp, string])[] = [
  [/\bfor (?:no key )?update(?: of \w+)?(?: skip locked)?/g, ''],
  [/\bskip locked\b/g, ''],
  [/\bon conflict (?:\([^)]*\) )?(?:where [^)]*? )?do nothing/g, ''],
  [/\bnot exists\b/g, 'exists'],
  [/(?<!not )\bexists\b/g, 'not exists'],
  [/\bis not distinct from\b/g, 'is distinct from'],
  [/\bis distinct from\b/g, 'is not distinct from'],
  [/\bis not null\b/g, 'is null'],
  [/\bis null\b/g, 'is not null'],
  [/(?<= )<(?= )/g, '<='],
  [/(?<= )<=(?= )/g, '<'],
  [/(?<= )>(?= )/g, '>='],
  [/(?<= )>=(?= )/g, '>'],
  [/(?<= )<>(?= )/g, '='],
  [/(?<= )\+(?= )/g, '-'],
  [/(?<= )-(?= )/g, '+'],
  [/\bdesc\b/g, 'asc'],
  [/\bdistinct on \([^)]*\)/g, ''],
]

/**
 * What could be wrong with a statement: a condition, a lock, an order or a fence forgotten, or a comparison turned
 * round.
 * @param text between the backticks of a template, its placeholders included
 */
export function sqlEdits(text: string): readonly Edit[] {
  const masked = maskOf(text)
  const edits: Edit[] = []
  for (const [pattern, replacement] of replaced)
    for (const { index, 0: found } of masked.matchAll(pattern))
      edits.push({ start: index, end: index + found.length, replacement })
  for (const { index, 0: keyword } of masked.matchAll(/\b(?:where|and)\b/g)) {
    if (keyword === 'and' && /\bbetween\s+\S+\s+$/.test(masked.slice(0, index))) continue
    const end = endOfClause(masked, index + keyword.length)
    const replacement = keyword === 'and' ? '' : masked.startsWith('or', end) ? null : 'where true '
    if (replacement !== null) edits.push({ start: index, end, replacement })
  }
  for (const { index, 0: keyword } of masked.matchAll(/\border by\b/g))
    edits.push({ start: index, end: endOfClause(masked, index + keyword.length), replacement: '' })
  return edits
}

/** Text of the same length without what looks like SQL and is none: placeholders, comments and quoted words. */
function maskOf(text: string): string {
  const hide = (hidden: string) => 'x'.repeat(hidden.length)
  let masked = ''
  for (let at = 0; at < text.length; ) {
    const end = text.startsWith('${', at) ? endOfPlaceholder(text, at) : at + 1
    masked += end > at + 1 ? hide(text.slice(at, end)) : text.charAt(at)
    at = end
  }
  return masked.replaceAll(/'[^']*'/g, hide).replaceAll(/--.*/g, (comment) => ' '.repeat(comment.length))
}

function endOfPlaceholder(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    if (text[at] === '{') depth += 1
    if (text[at] === '}' && --depth === 0) return at + 1
  }
  return text.length
}

/** Where the condition or list that begins at `start` is over. */
function endOfClause(masked: string, start: number): number {
  let depth = 0
  let isBetween = false
  for (const { index, 0: word } of masked.slice(start).matchAll(new RegExp(`\\bbetween\\b|${clause.source}`, 'g'))) {
    if (word === 'between') isBetween = true
    else if (word === '(' || word === 'case') depth += 1
    else if (depth > 0) depth -= word === ')' || word === 'end' ? 1 : 0
    else if (word === 'and' && isBetween) isBetween = false
    else return start + index
  }
  return masked.length
}
