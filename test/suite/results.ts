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

/** One `ok` or `not ok` line, and below it the lines of its subtest. */
interface Point {
  readonly name: string
  readonly ok: boolean
  readonly skip: string | boolean
  readonly todo: string | boolean
  readonly children: readonly Point[]
}

/**
 * Counts tests in what one run of tap wrote. A test is a subtest that has no subtests of its own: the assertions in it
 * are not counted. A file that ends badly although its tests passed (a crash, a time-out) counts as one failed test.
 */
export function readResults(tap: string): Results {
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

  for (const file of readPoints(tap)) visit(file, [])
  return { passed: passed.length, failed, skipped }
}

/** Paths of the test files that ended badly, for whatever reason. */
export function failedFiles(tap: string): readonly string[] {
  return readPoints(tap)
    .filter((file) => !file.ok && !isSkipped(file))
    .map((file) => file.name)
}

/** The results of one workspace. A runner that crashed, was killed or never ran has not written tap's last line. */
export function readWorkspaceResults(tap: string): Results {
  const results = readResults(tap)
  if (/^# time=/m.test(tap)) return results
  return { ...results, failed: [...results.failed, 'the test runner ended before it was done'] }
}

const isSkipped = (point: Point) => point.skip !== false || point.todo !== false

function reasonOf(point: Point): string {
  const word = point.skip === false ? 'to do' : 'skipped'
  const given = point.skip === false ? point.todo : point.skip
  return typeof given === 'string' && given !== '' ? given : word
}

function readPoints(tap: string): readonly Point[] {
  const parser = new Parser()
  const points = collect(parser)
  parser.end(tap)
  return points
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
