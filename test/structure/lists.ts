import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './source-files.ts'

/** A step of a list in CONTRIBUTING.md: what to do where, and who tells when it is missing. */
export interface Row {
  readonly number: number
  readonly where: string
  readonly what: string
  readonly toldBy: string
}

const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')

/** The text below a heading. */
function section(heading: string): string {
  return text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''
}

export const listHeadings: readonly string[] = [...text.matchAll(/^## (Add an? .*)$/gm)].map(
  ([, heading = '']) => heading,
)

export function rowsOf(heading: string): readonly Row[] {
  const lines = section(heading).matchAll(/^(\d+)\. (.+?): (.+) \*\((.+)\)\*$/gm)
  return [...lines].map(([, number, where = '', what = '', toldBy = '']) => ({
    number: Number(number),
    where,
    what,
    toldBy,
  }))
}

/** The code below a heading, without the line that says where it goes. */
export function exampleOf(heading: string): string {
  const code = /^```ts\n\/\/.*\n([\s\S]*?)^```/m.exec(section(heading))?.[1] ?? ''
  return code.replaceAll(/^(?=.)/gm, '  ')
}

/** The files that a row can mean: `…`, `<service>` and `N` stand for anything, a folder for what is in it. */
export function placesOf({ where }: Row): readonly RegExp[] {
  let folder = ''
  return [...where.matchAll(/`([^`]+)`/g)].map(([, name = '']) => {
    const isSibling = !name.includes('/') && name.endsWith('.ts')
    const path = isSibling ? `${folder}/${name}` : name
    folder = dirname(path)
    const pattern = path
      .replaceAll('.', '\\.')
      .replaceAll(/<\w+>/g, '[^/]+')
      .replaceAll('000N', '\\d{4}')
      .replaceAll('…', '.+')
    return new RegExp(/(\.\w+|…)$/.test(path) ? `^${pattern}$` : `^${pattern}/.+$`)
  })
}
