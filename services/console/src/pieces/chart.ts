/** Bars of amounts by day, drawn on the server: pages run no script for it. */
export interface Chart {
  /** What it shows, as whoever does not see it is told. */
  readonly title: string
  /** Below its ends: the first day, and the last. */
  readonly ends: readonly string[]
  readonly width: number
  readonly height: number
  /** Where zero is, from above. */
  readonly zero: number
  readonly bars: readonly {
    readonly x: number
    readonly y: number
    readonly width: number
    readonly height: number
    readonly isDown: boolean
    readonly label: string
  }[]
}

export interface Bar {
  /** In minor units. */
  readonly amount: bigint
  readonly label: string
}

const [step, height] = [10, 100]
/** Some days are narrow bars, a month fills the width. */
const [fewMax, fewWidth, manyWidth] = [10, 3, 7]

interface Given extends Pick<Chart, 'ends'> {
  /** Says the least and the largest amount, since no axis has numbers. */
  readonly title: (low: bigint, high: bigint) => string
  readonly bars: readonly Bar[]
}

/** Heights are parts of a hundred: no amount becomes a number. */
export function chartOf({ title, ends, bars }: Given): Chart {
  const amounts = bars.map(({ amount }) => amount)
  const [top, bottom] = [amounts.reduce(larger, 0n), amounts.reduce(smaller, 0n)]
  const barWidth = bars.length > fewMax ? manyWidth : fewWidth
  const [first = 0n] = amounts
  const range = top === bottom ? 1n : top - bottom
  const tall = (amount: bigint): number => Number((amount * BigInt(height)) / range)
  const zero = tall(top)
  return {
    title: title(amounts.reduce(smaller, first), amounts.reduce(larger, first)),
    ends,
    width: Math.max(bars.length, 1) * step,
    height,
    zero,
    bars: bars.map(({ amount, label }, index) => {
      const isDown = amount < 0n
      const size = tall(isDown ? -amount : amount)
      // What is not zero is seen, however small it is.
      const shown = amount === 0n ? 0 : Math.max(size, 1)
      const x = index * step + (step - barWidth) / 2
      return { x, y: isDown ? zero : zero - shown, width: barWidth, height: shown, isDown, label }
    }),
  }
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
