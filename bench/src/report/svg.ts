/** The few SVG shapes that the charts need. */

/** Readable on a light and on a dark background, because the charts have none of their own. */
export const ink = '#7d8590'
export const faint = '#7d859055'
/** One colour for each column, or part of a whole. Colour-blind people can tell them apart. */
export const colours = ['#3b82c4', '#d9822b', '#7d8590', '#3d9970', '#a463b0', '#c2504b', '#b8a03a', '#5fa8a0'] as const

export const colour = (index: number): string => colours[index % colours.length] ?? ink

type Attributes = Readonly<Record<string, string | number>>

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

/** To one decimal, which is finer than a screen shows. */
const value = (given: string | number): string =>
  typeof given === 'number' ? String(Math.round(given * 10) / 10) : escaped(given)

export function element(name: string, attributes: Attributes, content?: string): string {
  const written = Object.entries(attributes).map(([key, given]) => ` ${key}="${value(given)}"`)
  return content === undefined ? `<${name}${written.join('')}/>` : `<${name}${written.join('')}>${content}</${name}>`
}

export interface Label {
  readonly x: number
  readonly y: number
  readonly anchor?: 'start' | 'middle' | 'end'
  readonly bold?: boolean
}

export const label = (text: string, { x, y, anchor = 'start', bold = false }: Label): string =>
  element(
    'text',
    { x, y, fill: ink, 'text-anchor': anchor, 'dominant-baseline': 'middle', ...(bold ? { 'font-weight': 600 } : {}) },
    escaped(text),
  )

export interface Line {
  readonly from: readonly [x: number, y: number]
  readonly to: readonly [x: number, y: number]
  readonly stroke?: string
  readonly dashed?: boolean
}

export const line = ({ from, to, stroke = ink, dashed = false }: Line): string =>
  element('line', {
    x1: from[0],
    y1: from[1],
    x2: to[0],
    y2: to[1],
    stroke,
    ...(dashed ? { 'stroke-dasharray': '4 3' } : {}),
  })

export function bar(
  x: number,
  y: number,
  size: { readonly width: number; readonly height: number },
  fill: string,
): string {
  return element('rect', { x, y, width: Math.max(0, size.width), height: size.height, fill })
}

/** The whole picture, with a title for screen readers. */
export function picture(
  title: string,
  size: { readonly width: number; readonly height: number },
  shapes: readonly string[],
) {
  const attributes = {
    xmlns: 'http://www.w3.org/2000/svg',
    viewBox: `0 0 ${size.width} ${size.height}`,
    width: size.width,
    height: size.height,
    'font-family': 'system-ui, sans-serif',
    'font-size': 12,
    role: 'img',
  }
  return `${element('svg', attributes, [element('title', {}, escaped(title)), ...shapes].join('\n'))}\n`
}
