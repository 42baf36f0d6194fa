import type { Column } from '../case.ts'
import type { Measured, Results } from '../figures/results.ts'
import { spread } from '../figures/statistics.ts'
import type { Judged } from '../targets.ts'
import { bar, colour, faint, label, line, picture } from './svg.ts'
import { inShort } from './text.ts'

const width = 1_000
const labelsEnd = 470
const legendStart = 200
const legendStep = 95
const plotWidth = width - labelsEnd - 90
const rowHeight = 22
const barHeight = 12
const top = 56

const columnColours: Readonly<Record<Column, string>> = { this: colour(0), before: colour(1), reference: colour(2) }

/** The position of a value on a logarithmic axis: the cases differ a thousandfold. */
function logScale(values: readonly number[]): {
  readonly x: (value: number) => number
  readonly ticks: readonly number[]
} {
  const positive = values.filter((value) => value > 0)
  const low = Math.floor(Math.log10(Math.min(...positive)))
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...positive))))
  const x = (value: number) => labelsEnd + (plotWidth * (Math.log10(Math.max(value, 10 ** low)) - low)) / (high - low)
  return { x, ticks: Array.from({ length: high - low + 1 }, (_, step) => 10 ** (low + step)) }
}

const rowY = (row: number): number => top + row * rowHeight

function grid(ticks: readonly number[], x: (value: number) => number, rows: number): string[] {
  const bottom = rowY(rows)
  return ticks.flatMap((tick) => [
    line({ from: [x(tick), top - 8], to: [x(tick), bottom], stroke: faint }),
    label(inShort(tick), { x: x(tick), y: top - 16, anchor: 'middle' }),
  ])
}

function legend(entries: readonly (readonly [name: string, colour: string])[]): string[] {
  return entries.flatMap(([name, fill], index) => {
    const x = legendStart + index * legendStep
    return [bar(x, 14, { width: 10, height: 10 }, fill), label(name, { x: x + 14, y: 20 })]
  })
}

const size = (rows: number) => ({ width, height: rowY(rows) + 16 })

/** Operations a second of every case that has a rate: medians, with a line from the least round to the most. */
export function rateChart({ measured }: Results): string | undefined {
  const cases = measured.filter(({ samples }) => samples[0]?.figures.perSecond !== undefined)
  if (cases.length === 0) return undefined
  const spreads = cases.map(({ samples }) => spread(samples.map(({ figures }) => figures.perSecond ?? 0)))
  const { x, ticks } = logScale(spreads.flatMap(({ least, most }) => [least, most]))
  const rows = cases.flatMap((one, row) => {
    const { median, least, most } = spreads[row] ?? spread([])
    const y = rowY(row)
    const middle = y + barHeight / 2
    return [
      label(one.title, { x: labelsEnd - 8, y: middle, anchor: 'end' }),
      bar(labelsEnd, y, { width: x(median) - labelsEnd, height: barHeight }, columnColours[one.column]),
      line({ from: [x(least), middle], to: [x(most), middle] }),
      label(inShort(median), { x: x(most) + 6, y: middle }),
    ]
  })
  const columns = [...new Set(cases.map(({ column }) => column))]
  const names = legend(columns.map((column) => [column, columnColours[column]] as const))
  const title = label('operations a second', { x: 8, y: 20, bold: true })
  return picture('Operations a second', size(cases.length), [title, ...names, ...grid(ticks, x, cases.length), ...rows])
}

/** Processor time of one pair, as a bar with one part for each process. */
export function cpuChart({ measured }: Results): string | undefined {
  const pairs = measured.filter(
    ({ id, samples }) => id.startsWith('pairs') && 'cpuMs.client' in (samples[0]?.figures ?? {}),
  )
  if (pairs.length === 0) return undefined
  const names = Object.keys(pairs[0]?.samples[0]?.figures ?? {})
    .filter((name) => name.startsWith('cpuMs.') && name !== 'cpuMs.servers')
    .map((name) => name.slice('cpuMs.'.length))
  const shares = pairs.map((one) => names.map((name) => medianOf(one, `cpuMs.${name}`)))
  const most = Math.max(...shares.map((parts) => parts.reduce((sum, part) => sum + part, 0)), 0.001)
  const rows = pairs.flatMap((one, row) => {
    let x = labelsEnd
    const y = rowY(row)
    const parts = (shares[row] ?? []).map((share, index) => {
      const partWidth = (share / most) * plotWidth
      x += partWidth
      return bar(x - partWidth, y, { width: partWidth, height: barHeight }, colour(index))
    })
    const total = (shares[row] ?? []).reduce((sum, share) => sum + share, 0)
    return [
      label(`${one.title} (${one.column})`, { x: labelsEnd - 8, y: y + barHeight / 2, anchor: 'end' }),
      ...parts,
      label(inShort(total), { x: x + 6, y: y + barHeight / 2 }),
    ]
  })
  const title = label('CPU ms per pair', { x: 8, y: 20, bold: true })
  const shown = legend(names.map((name, index) => [name, colour(index)] as const))
  return picture('Processor time per pair and process', size(pairs.length), [title, ...shown, ...rows])
}

const medianOf = ({ samples }: Measured, name: string): number =>
  spread(samples.map(({ figures }) => figures[name] ?? 0)).median

/** How far each target is reached: 1 is exactly what must be reached, and more is better. */
export function targetChart(judged: readonly Judged[]): string | undefined {
  if (judged.length === 0) return undefined
  const reach = ({ target }: Judged, value: number) =>
    target.wants === 'at least' ? value / target.must : target.must / value
  const values = judged.map((one) => reach(one, one.value.median))
  const { x, ticks } = logScale([...values, 1, ...judged.map((one) => reach(one, one.target.wish))])
  const rows = judged.flatMap((one, row) => {
    const y = rowY(row)
    const middle = y + barHeight / 2
    const wish = x(reach(one, one.target.wish))
    return [
      label(one.target.title, { x: labelsEnd - 8, y: middle, anchor: 'end' }),
      bar(labelsEnd, y, { width: x(values[row] ?? 0) - labelsEnd, height: barHeight }, columnColours[one.column]),
      line({ from: [wish, y - 2], to: [wish, y + barHeight + 2] }),
      label(`${inShort(one.value.median)}${one.target.unit === undefined ? '' : ` ${one.target.unit}`}`, {
        x: Math.max(x(values[row] ?? 0), wish) + 6,
        y: middle,
      }),
    ]
  })
  const first = line({ from: [x(1), top - 8], to: [x(1), rowY(judged.length)], dashed: true })
  const title = label('targets: dashed is what must be, a tick what is wished', { x: 8, y: 20, bold: true })
  return picture('How far each target is reached', size(judged.length), [
    title,
    ...grid(ticks, x, judged.length),
    ...rows,
    first,
  ])
}

const tail = ['p50Ms', 'p90Ms', 'p99Ms', 'p999Ms', 'maxMs'] as const

/** The percentiles of the latencies, one dot for each. */
export function tailChart({ measured }: Results): string | undefined {
  const cases = measured.filter(({ samples }) => samples[0]?.figures.p999Ms !== undefined)
  if (cases.length === 0) return undefined
  const { x, ticks } = logScale(cases.flatMap((one) => tail.map((name) => medianOf(one, name))))
  const rows = cases.flatMap((one, row) => {
    const middle = rowY(row) + barHeight / 2
    const places = tail.map((name) => x(medianOf(one, name)))
    return [
      label(`${one.title} (${one.column})`, { x: labelsEnd - 8, y: middle, anchor: 'end' }),
      line({ from: [places[0] ?? 0, middle], to: [places.at(-1) ?? 0, middle], stroke: faint }),
      ...places.map((place, index) => bar(place - 3, middle - 3, { width: 6, height: 6 }, colour(index))),
    ]
  })
  const names = ['p50', 'p90', 'p99', 'p99.9', 'most']
  const shown = legend(names.map((name, index) => [name, colour(index)] as const))
  const title = label('latency in ms', { x: 8, y: 20, bold: true })
  return picture('Latencies and their tails', size(cases.length), [
    title,
    ...shown,
    ...grid(ticks, x, cases.length),
    ...rows,
  ])
}
