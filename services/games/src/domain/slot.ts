import { createHmac } from 'node:crypto'

/** The stakes on offer, in minor units. */
export const stakes = [100n, 500n, 1_000n] as const

/** A game of three equal reels. */
interface Machine {
  /** From the rarest to the most common, with their stops on a reel and what three of them pay per stake. */
  readonly symbols: readonly { readonly weight: number; readonly pays: number }[]
  /** Two of the rarest symbol, at any place, pay this much per stake. */
  readonly pairPays: number
}

/** Of the demonstrations: over all 32,768 lines it returns 96.12 percent, as the catalogue says. */
export const demonstration: Machine = {
  symbols: [
    { weight: 2, pays: 200 },
    { weight: 4, pays: 65 },
    { weight: 6, pays: 27 },
    { weight: 8, pays: 13 },
    { weight: 12, pays: 6 },
  ],
  pairPays: 8,
}

/** Of the game that stakes the sandbox's money: over all 8,000 lines it returns 7,600 stakes, 95 percent. */
export const walletReels: Machine = {
  symbols: [
    { weight: 1, pays: 400 },
    { weight: 2, pays: 150 },
    { weight: 3, pays: 30 },
    { weight: 5, pays: 15 },
    { weight: 9, pays: 4 },
  ],
  pairPays: 7,
}

export type Line = readonly [number, number, number]

export const stopsOf = ({ symbols }: Machine): number => symbols.reduce((sum, { weight }) => sum + weight, 0)

/** The symbol at a stop of a reel. */
export function symbolAt({ symbols }: Machine, stop: number): number {
  let rest = stop
  for (const [index, { weight }] of symbols.entries()) {
    if (rest < weight) return index
    rest -= weight
  }
  throw new RangeError(`no such stop: ${stop}`)
}

/** What a line of three symbols pays, in multiples of the stake. */
export function payout({ symbols, pairPays }: Machine, line: Line): number {
  const [first, second, third] = line
  if (first === second && second === third) return symbols[first]?.pays ?? 0
  return line.filter((symbol) => symbol === 0).length === 2 ? pairPays : 0
}

/** A byte above the last whole number of reels would make some stops likelier than others, so it is not used. */
const bytes = 256

/** The line of a spin, which follows from its name: whoever draws it again draws the same. */
export function lineOf(machine: Machine, secret: string, spin: string): Line {
  const stops = stopsOf(machine)
  const drawn: number[] = []
  for (let block = 0; drawn.length < 3; block++)
    for (const byte of createHmac('sha256', secret).update(`outcome ${block} ${spin}`).digest())
      if (byte < bytes - (bytes % stops)) drawn.push(symbolAt(machine, byte % stops))
  const [first = 0, second = 0, third = 0] = drawn
  return [first, second, third]
}
