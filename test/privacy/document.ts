import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../structure/source-files.ts'

const text = readFileSync(join(root, 'docs/privacy.md'), 'utf8')

/** The cells of each row of a section's table whose first cell is a name in code. */
function rowsOf(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = text.split(`\n${heading}\n`)
  const [own = ''] = section.split(/\n##+ /)
  return [...own.matchAll(/^\| (`.*) \|$/gm)].map(([, row = '']) =>
    row.split(' | ').map((cell, index) => (index === 0 ? cell.replaceAll('`', '') : cell)),
  )
}

const kindsIn = (cell = '') => cell.split(' ').filter((word) => /^\w+$/.test(word))

/** The kinds of data, as the document lists them. */
export const listedKinds = rowsOf('## Kinds of data').map(([kind = '', , shown = '']) => ({
  kind,
  masked: shown.startsWith('masked'),
}))

/** `schema.table.column`, with the kinds of data that the document says are in it. */
export const listedColumns = new Map(
  rowsOf('## Where it is stored').flatMap(([tables = '', columns = '']) =>
    [...columns.matchAll(/`(\w+)` ([^,]+)/g)].flatMap(([, column, kinds]) =>
      tables.split(', ').map((table) => [`${table}.${column}`, kindsIn(kinds)] as const),
    ),
  ),
)

/** What the document says of how long a table is kept. */
export const listedTimes = new Map(
  rowsOf('## Where it is stored').flatMap(([tables = '', , , kept = '']) =>
    tables.split(', ').map((table) => [table, kept] as const),
  ),
)

/** The columns that the document says are sealed. */
export const listedSealed = rowsOf('## Encryption').flatMap(([columns = '']) => columns.split(', '))
