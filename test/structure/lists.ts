import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './source-files.ts'

const text = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')

/** The lists of what a change takes: their headings. */
export const listHeadings: readonly string[] = [...text.matchAll(/^## (Add an? .*)$/gm)].map(
  ([, heading = '']) => heading,
)

/** The text below a heading. */
const section = (heading: string) => text.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''

/** The numbers of a list's steps: each says where, what, and who tells when it is missing. */
export const stepsOf = (heading: string): readonly number[] =>
  [...section(heading).matchAll(/^(\d+)\. .+?: .+ \*\(.+\)\*$/gm)].map(([, number]) => Number(number))

/** The code below a heading, without the line that says where it goes. */
export function exampleOf(heading: string): string {
  const code = /^```ts\n\/\/.*\n([\s\S]*?)^```/m.exec(section(heading))?.[1] ?? ''
  return code.replaceAll(/^(?=.)/gm, '  ')
}
