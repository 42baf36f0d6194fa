import stringWidth from 'string-width'

const gap = 2
/** A column of text is still readable when it is so narrow. */
const readable = 12
/** An id or a moment: people copy and compare them, so they stay on one line. */
const whole = /^(?:[a-z]+_[0-9a-z]{20,}|\d{4}-\d\d-\d\dT[\d:.]+Z)$/

/**
 * How wide each column is, so that all fit beside each other: the widest lose most.
 * @returns none when they fit as they are; undefined when they do not fit at all
 */
export function columnWidths(rows: readonly (readonly string[])[], available: number): readonly number[] | undefined {
  const columns = (rows[0] ?? []).map((_, index) => rows.map((row) => row[index] ?? ''))
  const widths = columns.map((cells) => Math.max(...cells.map((cell) => stringWidth(cell))))
  const least = columns.map((cells, index) => {
    const words = cells.filter((cell) => whole.test(cell)).map((cell) => cell.length)
    return Math.max(Math.min(readable, widths[index] ?? 0), ...words)
  })
  const room = available - gap * (columns.length - 1)
  if (sum(widths) <= room) return []
  if (sum(least) > room) return undefined
  while (sum(widths) > room) {
    const loose = [...widths.keys()].filter((index) => (widths[index] ?? 0) > (least[index] ?? 0))
    const widest = loose.reduce((best, index) => ((widths[index] ?? 0) > (widths[best] ?? 0) ? index : best))
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)
