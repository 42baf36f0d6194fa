import { inShort, table } from '../report/text.ts'
import { keptHours } from './kept.ts'
import type { BytesReport, TableGrowth } from './measure-bytes.ts'

/** What a table of less than this for each deposit is left out of the list, but not of the sums. */
const listedBytesMin = 5
const gigabyte = 1e9
const daySeconds = 86_400
/** Deposits a second, created and confirmed. */
const rates = [3, 30, 300] as const

const sizeOf = ({ heap, indexes, toast }: TableGrowth) => heap + indexes + toast
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const round = (value: number) => Math.round(value).toLocaleString('en')

const keptText = (hours: number | undefined) =>
  hours === undefined
    ? 'for ever'
    : hours === 0
      ? 'until done'
      : hours < 72
        ? `${hours} hours`
        : `${inShort(hours / 24)} days`

/** Bytes that stay, for how long, and how large that makes the database. */
export function bytesText(report: BytesReport): string {
  const tables = report.tables.toSorted((a, b) => sizeOf(b) - sizeOf(a))
  const kept = (one: TableGrowth) => keptHours(one.table)
  const forever = sum(tables.filter((one) => kept(one) === undefined).map(sizeOf))
  const total = sum(tables.map(sizeOf))
  const rows = tables
    .filter((one) => sizeOf(one) >= listedBytesMin || one.wal >= listedBytesMin)
    .map((one) => [
      one.table,
      ...[one.heap, one.indexes, one.toast, sizeOf(one), one.wal].map(round),
      keptText(kept(one)),
    ])
  const wholes = (what: (one: TableGrowth) => number) => round(sum(tables.map(what)))
  const all = [
    'all',
    wholes((one) => one.heap),
    wholes((one) => one.indexes),
    wholes((one) => one.toast),
    round(total),
    round(report.wal),
    '',
  ]
  const purged = tables.filter((one) => kept(one) !== undefined)
  const purgedSeconds = sum(purged.map((one) => sizeOf(one) * (kept(one) ?? 0) * 3_600))
  const sizing = rates.map((rate) => [
    String(rate),
    inShort((rate * purgedSeconds) / gigabyte),
    inShort((rate * daySeconds * forever) / gigabyte),
    inShort((rate * daySeconds * report.wal) / gigabyte),
    inShort((rate * daySeconds * report.streamBytesPerEvent) / gigabyte),
  ])
  const failed = Object.entries(report.failures).map(([what, count]) => `  ${count} × ${what}`)
  return [
    '',
    `Bytes of one deposit, created and confirmed over HTTP and delivered as a webhook (${report.deposits} of them)`,
    table(['table', 'rows', 'indexes', 'TOAST', 'together', 'WAL', 'kept'], [...rows, all]),
    `${round(total)} bytes a deposit, ${round(forever)} of them for ever. Byte-days of what is deleted again: ${round(purgedSeconds / daySeconds)}. An event in the stream: ${round(report.streamBytesPerEvent)} bytes.`,
    'What that makes of the disks, in GB',
    table(
      [
        'deposits/s',
        'deleted again, at any time',
        'kept for ever, a day',
        'WAL a day',
        'stream a day, until max_bytes',
      ],
      sizing,
    ),
    failed.length === 0 ? 'Failed: nothing.' : ['FAILED:', ...failed].join('\n'),
    '',
  ].join('\n\n')
}
