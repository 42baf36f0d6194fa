/** Bars and lines of amounts, drawn on the server: pages run no script for it. */
export interface Chart {
  /** What it shows, as whoever does not see it is told. */
  readonly title: string
  /** Below its ends: the first day, and the last; or one below each bar. */
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
    readonly tone: Tone
    readonly label: string
  }[]
  readonly lines: readonly { readonly points: string; readonly tone: Tone; readonly isDashed: boolean }[]
  /** Where what is on the right of it is past its goal. */
  readonly goal: number | undefined
  /** What the tones mean, where there are several. */
  readonly legend: readonly Pick<Series, 'name' | 'kind' | 'tone' | 'isDashed'>[]
}

/** How it looks; what is below zero looks bad without one. */
type Tone = 'up' | 'down' | 'plain'

/** In its place from the left. Null: nothing is known there. */
export interface Point {
  /** In minor units, or in what else is counted. */
  readonly amount: bigint | null
  readonly label: string
}

export interface Series {
  readonly name?: string
  readonly kind: 'bar' | 'line'
  readonly tone?: Tone
  readonly isDashed?: boolean
  readonly points: readonly Point[]
}

const [step, height] = [10, 100]
/** A bar fills most of its place. Of few it is as wide as of so many: one alone is no block. */
const [widthMax, placesMin] = [7, 14]

interface Given extends Pick<Chart, 'ends'> {
  /** Says the least and the largest amount, since no axis has numbers. */
  readonly title: (low: bigint, high: bigint) => string
  /** All of one length. */
  readonly series: readonly Series[]
  /** Before which place the goal stands. */
  readonly goalBefore?: number
}

/** Heights are parts of a hundred: no amount becomes a number. */
export function chartOf({ title, ends, series, goalBefore }: Given): Chart {
  const amounts = series.flatMap(({ points }) => points.flatMap(({ amount }) => amount ?? []))
  const [top, bottom] = [amounts.reduce(larger, 0n), amounts.reduce(smaller, 0n)]
  const [first = 0n] = amounts
  const range = top === bottom ? 1n : top - bottom
  const tall = (amount: bigint): number => Number((amount * BigInt(height)) / range)
  // Where all is zero it stands at the foot.
  const zero = top === bottom ? height : tall(top)
  const places = series[0]?.points.length ?? 0
  const width = Math.min(widthMax, (widthMax * places) / placesMin)
  return {
    title: title(amounts.reduce(smaller, first), amounts.reduce(larger, first)),
    ends,
    width: Math.max(places, 1) * step,
    height,
    zero,
    bars: series.filter(isBar).flatMap(({ points, tone }) =>
      points.flatMap(({ amount, label }, index) => {
        if (amount === null) return []
        const isDown = amount < 0n
        const size = tall(isDown ? -amount : amount)
        // What is not zero is seen, however small it is.
        const shown = amount === 0n ? 0 : Math.max(size, 1)
        const x = index * step + (step - width) / 2
        const y = isDown ? zero : zero - shown
        return [{ x, y, width, height: shown, tone: tone ?? (isDown ? 'down' : 'up'), label }]
      }),
    ),
    lines: series
      .filter((one) => !isBar(one))
      .flatMap(({ points, tone = 'plain', isDashed = false }) =>
        stretchesOf(points).map((stretch) => ({
          points: stretch.map(([place, amount]) => `${place * step + step / 2},${zero - tall(amount)}`).join(' '),
          tone,
          isDashed,
        })),
      ),
    goal: goalBefore === undefined ? undefined : goalBefore * step,
    legend: series.filter(({ name }) => name !== undefined),
  }
}

const isBar = ({ kind }: Series): boolean => kind === 'bar'

/** A line has a gap where nothing is known. One point alone is a line across its place. */
function stretchesOf(points: readonly Point[]): readonly (readonly (readonly [place: number, amount: bigint])[])[] {
  const stretches: (readonly [number, bigint])[][] = [[]]
  for (const [place, { amount }] of points.entries())
    if (amount === null) stretches.push([])
    else stretches.at(-1)?.push([place, amount])
  const across = [-0.5, 0.5]
  return stretches.flatMap((one) => {
    if (one.length !== 1) return one.length === 0 ? [] : [one]
    return [one.flatMap(([place, amount]) => across.map((by) => [place + by, amount] as const))]
  })
}

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b)
