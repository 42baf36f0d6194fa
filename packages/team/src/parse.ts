/**
 * Turns what a person types into what an operation takes.
 * @throws a sentence that says what is wrong
 */
export type Parse = (value: string) => unknown

export const integer =
  (flag: string): Parse =>
  (value) => {
    if (!/^\d+$/.test(value)) throw new Error(`${flag} takes a whole number, not ${value}`)
    return Number(value)
  }

const alternatives = new Intl.ListFormat('en', { type: 'disjunction' })

export const oneOf =
  (flag: string, choices: readonly string[]): Parse =>
  (value) => {
    if (!choices.includes(value)) throw new Error(`${flag} takes ${alternatives.format(choices)}, not ${value}`)
    return value
  }

/** A moment as people write it: a date, which means its midnight UTC, or any ISO 8601 time. */
export function moment(value: string): string {
  const date = new Date(value)
  if (Number.isNaN(date.getTime())) throw new Error(`not a date or time: ${value}`)
  return date.toISOString()
}

const unitHours: Readonly<Record<string, number>> = { '': 1, h: 1, m: 1 / 60, d: 24 }

export function hours(value: string): number {
  const [, count, unit = ''] = /^(\d+(?:\.\d+)?)([hmd]?)$/.exec(value) ?? []
  if (count === undefined) throw new Error(`a duration is such as 24h or 30m, not ${value}`)
  return Number(count) * (unitHours[unit] ?? 1)
}
