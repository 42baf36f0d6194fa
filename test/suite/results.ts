import { Parser } from 'tap-parser'

export interface SkippedTest {
  readonly name: string
  readonly reason: string
}

export interface Results {
  readonly passed: number
  /** Names, with the file first. */
  readonly failed: readonly string[]
  readonly skipped: readonly SkippedTest[]
}

/** What the process of one test file left behind. */
export interface Ending {
  /** The file, as tests are named after it. */
  readonly path: string
  /** What it wrote to standard output. */
  readonly tap: string
  /** How it ended when it did not end well: an exit status or a signal. */
  readonly fault: string | undefined
}

/** One `ok` or `not ok` line, and below it the lines of its subtest. */
interface Point {
  readonly name: string
  readonly ok: boolean
  readonly skip: string | boolean
  readonly todo: string | boolean
  readonly children: readonly Point[]
}

/** Of what a failed file says about its failures. */
const diagnosticLinesMax = 60

/**
 * Counts the tests of one file. A test is a subtest that has no subtests of its own: the assertions in it are not
 * counted. A file that ends badly although its tests passed (a crash, a time-out) counts as one failed test, and so does
 * one that wrote no results. A file may also be skipped as a whole.
 */
export function readResults({ path: file, tap, fault }: Ending): Results {
  const passed: string[] = []
  const failed: string[] = []
  const skipped: SkippedTest[] = []

  function visit(point: Point, path: readonly string[]): void {
    const name = [...path, point.name].join(' > ')
    const subtests = point.children.filter((child) => child.children.length > 0 || isSkipped(child))
    if (isSkipped(point)) {
      skipped.push({ name, reason: reasonOf(point) })
    } else if (subtests.length === 0) {
      ;(point.ok ? passed : failed).push(name)
    } else {
      const failedBefore = failed.length
      for (const child of subtests) visit(child, [...path, point.name])
      if (!point.ok && failed.length === failedBefore) failed.push(name)
    }
  }

  const { ok, skip, points } = readPoints(tap)
  visit(
    { name: file, ok: ok && fault === undefined, skip: fault === undefined && skip, todo: false, children: points },
    [],
  )
  return { passed: passed.length, failed, skipped }
}

/** What one of several files in a process wrote, as if it had been alone. */
export interface Part {
  /** Of the file, from the root of the repository. */
  readonly place: string
  readonly tap: string
  /** False when the process died in it. */
  readonly isOver: boolean
  readonly ok: boolean
  readonly seconds: number
}

/** Takes apart what `test-process.ts` wrote. */
export function partsOf(tap: string): readonly Part[] {
  const parts: Part[] = []
  let lines: string[] = []
  let place: string | undefined
  const end = (how: Pick<Part, 'isOver' | 'ok' | 'seconds'>) => {
    if (place !== undefined) parts.push({ place, tap: lines.join('\n'), ...how })
    place = undefined
  }
  for (const line of tap.split('\n')) {
    const [, begun] = /^# Subtest: (.*)$/.exec(line) ?? []
    // Behind a file that is skipped stands the reason, and no time.
    const [point, not, ms = 0] = /^(not )?ok \d+ (?:.*# time=([\d.]+)ms)?/.exec(line) ?? []
    if (begun !== undefined) {
      place = begun
      lines = ['TAP version 14']
    } else if (point !== undefined) end({ isOver: true, ok: not === undefined, seconds: Number(ms) / 1_000 })
    else if (line.startsWith(indentation)) lines.push(line.slice(indentation.length))
  }
  end({ isOver: false, ok: false, seconds: 0 })
  return parts
}

/** Of a subtest. */
const indentation = '    '

/** What stands behind each `not ok` of a file that ended badly, innermost first as tap wrote it. */
export function diagnosticsOf(tap: string): readonly string[] {
  const kept: string[] = []
  let inside = false
  for (const line of tap.split('\n')) {
    if (/^\s*not ok /.test(line)) inside = true
    else if (/^\s*(ok |# |\d+\.\.\d+)/.test(line)) inside = false
    if (inside) kept.push(line)
  }
  return kept.slice(0, diagnosticLinesMax)
}

const isSkipped = (point: Point) => point.skip !== false || point.todo !== false

function reasonOf(point: Point): string {
  const word = point.skip === false ? 'to do' : 'skipped'
  const given = point.skip === false ? point.todo : point.skip
  return typeof given === 'string' && given !== '' ? given : word
}

/**
 * What was written is not ok when a test failed, when it was cut short, or when there is nothing. A plan of no tests with
 * a reason skips all: `1..0 # no engine`.
 */
function readPoints(tap: string): { ok: boolean; skip: string | boolean; points: readonly Point[] } {
  const parser = new Parser()
  const points = collect(parser)
  parser.end(tap)
  const [, skip = false] = /^1\.\.0 # (.+)$/m.exec(tap) ?? []
  return { ok: parser.ok && points.length > 0, skip: parser.ok && skip, points }
}

/** A subtest is announced before the line that closes it, so its points wait for that line. */
function collect(parser: Parser): Point[] {
  const points: Point[] = []
  let waiting: Point[] = []
  parser.on('child', (child: Parser) => {
    waiting = collect(child)
  })
  parser.on('assert', (result: { name: string; ok: boolean; skip: string | boolean; todo: string | boolean }) => {
    points.push({
      name: result.name,
      ok: result.ok,
      skip: result.skip,
      todo: result.todo,
      children: waiting,
    })
    waiting = []
  })
  return points
}
