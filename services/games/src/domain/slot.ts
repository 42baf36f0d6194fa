/** The stakes on offer, in minor units. */
export const stakes = [100n, 500n, 1_000n] as const

/**
 * Symbols from the rarest to the most common, with their chance on a reel of 32 stops and what three of them pay per
 * stake. Over all 32,768 lines they return 96.12 percent, as the catalogue says.
 */
export const symbols = [
  { weight: 2, pays: 200 },
  { weight: 4, pays: 65 },
  { weight: 6, pays: 27 },
  { weight: 8, pays: 13 },
  { weight: 12, pays: 6 },
] as const
export const stopsPerReel = symbols.reduce((sum, { weight }) => sum + weight, 0)
/** Two of the rarest symbol, at any place, pay this much per stake. */
export const pairPays = 8

/** The symbol at a stop of a reel. */
export function symbolAt(stop: number): number {
  let rest = stop
  for (const [index, { weight }] of symbols.entries()) {
    if (rest < weight) return index
    rest -= weight
  }
  throw new RangeError(`no such stop: ${stop}`)
}

/** What a line of three symbols pays, in multiples of the stake. */
export function payout(line: readonly [number, number, number]): number {
  const [first, second, third] = line
  if (first === second && second === third) return symbols[first]?.pays ?? 0
  return line.filter((symbol) => symbol === 0).length === 2 ? pairPays : 0
}
