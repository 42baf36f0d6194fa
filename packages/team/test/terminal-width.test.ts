import { captured } from '@backoffice/test-kit/captured'
import t from 'tap'
import { columnWidths } from '../src/column-widths.ts'
import { type Column, printTable } from '../src/output.ts'

const id = 'wdr_01m80zdbj6fex93d62rkz6d91z'
const at = '2026-11-22T06:34:33.413Z'
const long = 'a destination that somebody wrote at such length that no terminal has room for it beside the rest'
interface Row {
  readonly id: string
  readonly at: string
  readonly destination: string
}
const rows: readonly Row[] = [
  { id, at, destination: long },
  { id, at, destination: 'short' },
]
const columns: readonly Column<Row>[] = ['id', 'destination', 'at']
const printed = async (width: number | undefined) =>
  (await captured(() => printTable(rows, columns, width))).stdout.split('\n')

t.test('a table fits the terminal: text is broken, ids and moments stay whole', async (t) => {
  for (const width of [130, 100, 80, 75]) {
    const lines = await printed(width)
    for (const line of lines) t.ok(line.length <= width, `${width}: ${line}`)
    t.equal(lines.filter((line) => line.includes(id)).length, 2, `${width}`)
    t.equal(lines.filter((line) => line.includes(at)).length, 2, `${width}`)
    const words = lines.slice(1).join(' ').split(/\s+/)
    for (const word of long.split(' ')) t.ok(words.includes(word), `${width}: ${word}`)
  }
})

t.test('where not even that fits, each row is a record', async (t) => {
  const lines = await printed(60)
  t.same(lines, [
    `id           ${id}`,
    `destination  ${long}`,
    `at           ${at}`,
    '',
    `id           ${id}`,
    'destination  short',
    `at           ${at}`,
    '',
  ])
})

t.test('what fits is left as it is, and so is what goes into a file', async (t) => {
  t.same(columnWidths([['a', 'b']], 80), [])
  t.equal((await printed(undefined)).length, 4)
  t.match((await printed(undefined))[1], long)
})
