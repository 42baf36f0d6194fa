import { fromMinorUnits, toMinorUnits } from '@backoffice/contracts'
import type { Cell, Fact, Row } from './cells.ts'

interface Column {
  readonly field: string
  /** How it looks: `numeric` stands on the right, `less` goes where there is little room. */
  readonly look: string
}

interface Table {
  readonly columns: readonly Column[]
  /** With the cells of the columns that are shown, in their order. */
  readonly rows: readonly (Omit<Row, 'cells'> & { readonly cells: readonly (Column & { readonly cell: Cell })[] })[]
  readonly areOpened: boolean
  readonly areChosen: boolean
  readonly sum: Sum | undefined
}

/** What the amounts of the rows come to. */
interface Sum {
  /** In which column. */
  readonly at: number
  /** One for each currency. */
  readonly amounts: readonly { readonly amount: string; readonly currency: string }[]
}

/** So many columns stay on a tablet. Authors put first what tells one row from another. */
const columnsKept = 5

/** The rows of a list as a table. What no row has is no column. */
export function tableOf(rows: readonly Row[]): Table {
  const areOpened = rows.some(({ href }) => href !== undefined)
  const fields = rows[0]?.cells ?? []
  const cellsAt = (index: number) => rows.map(({ cells }) => cells[index]?.cell ?? { kind: 'nothing' as const })
  const shown = fields.flatMap((_, index) => (cellsAt(index).some(({ kind }) => kind !== 'nothing') ? [index] : []))
  const columns = shown.map((index, place) => {
    const cells = cellsAt(index)
    const isLess = areOpened && place >= columnsKept && !cells.some(isAlwaysSeen)
    const look = [...(cells.every(isNumber) ? ['numeric'] : []), ...(isLess ? ['less'] : [])].join(' ')
    return { field: fields[index]?.field ?? '', look }
  })
  const shownCells = (cells: readonly Fact[]) =>
    shown.flatMap((index, place) => {
      const [column, fact] = [columns[place], cells[index]]
      return column === undefined || fact === undefined ? [] : [{ ...column, cell: fact.cell }]
    })
  return {
    columns,
    rows: rows.map(({ cells, ...row }) => ({ ...row, cells: shownCells(cells) })),
    areOpened,
    areChosen: rows.some(({ choice }) => choice !== undefined),
    sum: areOpened && rows.length > 1 ? sumOf(columns, rows) : undefined,
  }
}

const isNumber = ({ kind }: Cell): boolean => kind === 'money' || kind === 'number' || kind === 'nothing'

/** Whoever looks at a list on a small screen looks for these. */
const isAlwaysSeen = (cell: Cell): boolean =>
  cell.kind === 'money' || cell.kind === 'status' || ('lines' in cell && cell.lines.some(isAlwaysSeen))

/** Of records, by their amounts: balances add up to nothing. */
function sumOf(columns: readonly Column[], rows: readonly Row[]): Sum | undefined {
  const at = columns.findIndex(({ field }) => field === 'amount')
  const amounts = rows.flatMap(({ cells }) => {
    const cell = cells.find(({ field }) => field === 'amount')?.cell
    return cell?.kind === 'money' ? [cell] : []
  })
  if (at < 1 || amounts.length < rows.length) return undefined
  const ofCurrency = Map.groupBy(amounts, ({ currency }) => currency)
  return {
    at,
    amounts: [...ofCurrency].map(([currency, cells]) => {
      const total = cells.map(({ text }) => toMinorUnits(text)).reduce((sum, one) => sum + one)
      return { currency, amount: fromMinorUnits(total) }
    }),
  }
}
