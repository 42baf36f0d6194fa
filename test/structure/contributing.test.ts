import { execFileSync } from 'node:child_process'
import { postgres } from '@backoffice/test-kit'
import t from 'tap'
import { type Addition, type Changes, compiler } from './additions/addition.ts'
import { endpoint } from './additions/endpoint.ts'
import { event } from './additions/event.ts'
import { ledgerType } from './additions/ledger-type.ts'
import { table } from './additions/table.ts'
import { teamCommand } from './additions/team-command.ts'
import { compilerRounds, type Followed, follow, type Made, withSlips } from './following.ts'
import { listHeadings, placesOf, rowsOf } from './lists.ts'
import { root } from './source-files.ts'
import { type Outcome, WorkingCopies } from './working-copy.ts'

// Each of CONTRIBUTING.md's lists is followed to the letter in a copy of the repository. What is added is complete then,
// nothing else had to change, and whoever slips in a row is told by whom the row says.
t.setTimeout(600_000)

// Each goes on from where the one before ended. The ledger type is last: it is the one that breaks clients.
const additions = [endpoint, event, table, teamCommand, ledgerType]

/**
 * Every list is followed, and compiled. The tests and the slips of one list are tried, which takes a minute for each: another
 * list from commit to commit. `LISTS=all` tries those of all, and `LISTS=0` those of the first.
 */
function chosen(): readonly Addition[] {
  const { LISTS: lists } = process.env
  if (lists === 'all') return additions
  const number = lists === undefined ? Number.parseInt(commit().slice(0, 8), 16) : Number(lists)
  return additions.filter((_, index) => index === number % additions.length)
}

/** Sources without a repository around them have none. */
function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8', stdio: 'pipe' })
  } catch {
    return '0'
  }
}

const tried = chosen()
t.comment(`the tests and slips of: ${tried.map(({ list }) => list).join(', ')}`)

/** What fails before a test waits for it is that test's failure, not the process's. */
function awaited<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

const postgresUrl = await postgres()
const copies = new WorkingCopies(2)
const [compiled] = copies.all
t.teardown(() => {
  for (const copy of copies.all) copy.remove()
})

function compile(changes: Changes): Promise<Outcome> {
  // Always in the same copy: only the first time is everything compiled.
  const memory = ['--incremental', '--tsBuildInfoFile', 'node_modules/.tsbuildinfo']
  // Several would do part of the work again, each for itself.
  const checkers = ['--checkers', '1']
  return copies.use((copy) => {
    copy.show(changes)
    return copy.run('tsc', ['--noEmit', '--project', 'tsconfig.json', ...memory, ...checkers])
  }, compiled)
}

function runTest(test: string, changes: Changes): Promise<Outcome> {
  const [file = '', name = ''] = test.split(': ')
  const [, folder = '', path = ''] = /^(test|(?:packages|services)\/[\w-]+)\/(.*)$/.exec(file) ?? []
  return copies.use((copy) => {
    copy.show(changes)
    return copy.run(process.execPath, [path], { folder, env: { POSTGRES_URL: postgresUrl, TAP_GREP: name } })
  })
}

interface Walk {
  readonly addition: Addition
  readonly followed: Promise<Followed>
  /** What the tests say with every row done. */
  readonly tests: Promise<readonly { readonly test: string; readonly outcome: Promise<Outcome> }[]>
  /** What the tests say of a slip. */
  readonly slips: Promise<readonly (Made & { readonly outcome: Promise<Outcome> })[]>
}

/** Begins at once, so that the compiler and tests are busy beside each other; what is below waits for it. */
function walk(addition: Addition, earlier: readonly Walk[]): Walk {
  const before = Promise.all(earlier.map(({ followed }) => followed))
  const followed = awaited(
    before.then((before) => copies.use((copy) => follow(addition, before.at(-1)?.after ?? new Map(), copy), compiled)),
  )
  const isTried = tried.includes(addition)
  const tests = followed.then(({ after }) =>
    (isTried ? addition.tests : []).map((test) => ({ test, outcome: awaited(runTest(test, after)) })),
  )
  const slips = followed.then(async (followed) => {
    const walked = [...(await before), followed]
    return addition.slips
      .filter(({ toldBy }) => isTried && toldBy !== compiler)
      .map((slip) => {
        const changes = withSlips(walked, [{ followed, slip }])
        return { followed, slip, outcome: awaited(runTest(slip.toldBy, changes)) }
      })
  })
  return { addition, followed, tests: awaited(tests), slips: awaited(slips) }
}

const walks: Walk[] = []
for (const addition of additions) walks.push(walk(addition, walks))
const walked = awaited(Promise.all(walks.map(({ followed }) => followed)))

const whole = awaited(walked.then((walked) => compile(walked.at(-1)?.after ?? new Map())))

/** The compiler's slips: several at a time, for it names each. */
const rounds = awaited(
  walked.then((walked) => {
    const ofLists = walked.map((followed) => {
      const { addition } = followed
      const slips = addition.slips.filter(({ toldBy }) => toldBy === compiler && tried.includes(addition))
      return compilerRounds(slips.map((slip) => ({ followed, slip })))
    })
    const count = Math.max(...ofLists.map(({ length }) => length))
    return Array.from({ length: count }, (_, round) => {
      const made = ofLists.flatMap((rounds) => rounds[round] ?? [])
      return { made, outcome: awaited(compile(withSlips(walked, made))) }
    })
  }),
)

t.test('there is something to add for each list', async (t) => {
  t.same(additions.map(({ list }) => list).sort(), [...listHeadings].sort())
})

const nameOf = ({ followed: { addition }, slip }: Made) =>
  `${addition.list}, row ${slip.row} ${slip.slip}: ${slip.toldBy}`

for (const { addition, followed, tests, slips } of walks) {
  const { list, spared } = addition

  t.test(`${list}: nothing is changed but what the rows name, and all of that`, async (t) => {
    const { rows, files } = await followed
    const numbers = new Set(rows.map(({ number }) => number))
    const astray = [...addition.edits, ...addition.slips].filter(({ row }) => !numbers.has(row))
    t.same(astray, [], 'every edit belongs to a row')
    for (const row of rows) {
      const places = placesOf(row)
      const changed = files.get(row.number) ?? []
      if (spared.includes(row.number)) {
        t.match(row.what, /\b(if|for a|for rows)\b/, `row ${row.number} may be spared`)
        t.same(changed, [])
      } else if (!row.what.startsWith('nothing')) {
        const unnamed = changed.filter((file) => !places.some((place) => place.test(file)))
        t.same(unnamed, [], `row ${row.number} names what it changes`)
        const untouched = places.filter((place) => !changed.some((file) => place.test(file)))
        t.same(untouched.map(String), [], `row ${row.number} changes what it names`)
      }
    }
  })

  if (tried.includes(addition))
    t.test(`${list}: with all rows done, the tests pass`, async (t) => {
      for (const { test, outcome } of await tests) {
        const { ok, output } = await outcome
        t.ok(ok, test, { output })
      }
    })

  t.test(`${list}: the slips are those that the compiler or a test is said to find`, async (t) => {
    for (const row of rowsOf(list).filter(({ number }) => !spared.includes(number))) {
      const told = addition.slips.filter((slip) => slip.row === row.number).map(({ toldBy }) => toldBy)
      const finders = told.map((whom) => (whom === compiler ? 'compiler' : 'test'))
      t.same(new Set(finders), new Set(row.toldBy.match(/compiler|test/g)), `row ${row.number}: ${row.toldBy}`)
    }
  })

  if (tried.includes(addition))
    t.test(`${list}: a test finds the slips that it is said to find`, async (t) => {
      for (const { outcome, ...made } of await slips) {
        const { ok, output } = await outcome
        t.notOk(ok, nameOf(made))
        t.match(output, made.slip.says, nameOf(made))
      }
    })
}

t.test('with the rows of all lists done, the types are right', async (t) => {
  const { output } = await whole
  t.equal(output, '')
})

t.test('the compiler finds the slips that it is said to find', async (t) => {
  for (const { made, outcome } of await rounds) {
    const { output } = await outcome
    for (const one of made) t.match(output, one.slip.says, nameOf(one))
  }
})
