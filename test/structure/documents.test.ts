import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { root, sourceFiles } from './source-files.ts'

const read = (path: string) => readFileSync(join(root, path), 'utf8')
const documents = globSync('{*.md,{deploy,docs,examples,local,packages,services,test}/**/*.md}', {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|\.tap|dist)(\/|$)/.test(String(path)),
})

/** The first group of each match, with the document that it stands in. */
function found(pattern: RegExp): { readonly document: string; readonly name: string }[] {
  return documents.flatMap((document) =>
    [...read(document).matchAll(pattern)].map(([, name = '']) => ({ document, name })),
  )
}

const named = ({ document, name }: { readonly document: string; readonly name: string }) => `${document}: ${name}`

t.test('every file and heading that a document links to is there', async (t) => {
  // What begins with # in a guide is a heading of the page that is made from it. The page's own test follows them.
  const links = found(/\]\(((?!https?:|\{\{)[^)\s]+)\)/g).filter(
    ({ document, name }) => !/^docs\/(guide|providers)\.md$/.test(document) && !name.startsWith('guide.md#'),
  )
  t.ok(links.length > 50)
  const broken = links.filter(({ document, name }) => {
    const [path = '', heading] = name.split('#')
    const target = path === '' ? document : join(dirname(document), path)
    return !existsSync(join(root, target)) || (heading !== undefined && !headings(target).includes(heading))
  })
  t.same(broken.map(named), [])
})

/** The names by which the headings of a document are linked to. */
function headings(document: string): string[] {
  const lines = [...read(document).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading)
  return lines.map((heading) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}

/** An endpoint that is still to be made, the next release's document, and what a run leaves behind. */
const notThere = /get-deposit|X\.Y\.Z|^local\/bench\/results/

t.test('every place that a document names is there', async (t) => {
  const places = found(/`((?:packages|services|local|test|docs|deploy|examples)\/[\w./-]+)`/g)
  t.ok(places.filter(({ document }) => document === 'CONTRIBUTING.md').length > 20)
  const missing = places.filter(
    ({ document, name }) =>
      !notThere.test(name) && !existsSync(join(root, name)) && !existsSync(join(root, dirname(document), name)),
  )
  t.same(missing.map(named), [])
})

t.test('every source file that a document names is there, be it by the end of its path', async (t) => {
  const sources = sourceFiles().map(({ path }) => `/${path}`)
  const missing = found(/`([\w./-]+\.(?:ts|mjs))`/g).filter(
    ({ name }) => !notThere.test(name) && !sources.some((path) => path.endsWith(`/${name}`)),
  )
  t.same(missing.map(named), [])
})

/** What people write beside programs: a test may make up a name. */
const writtenPlaces = globSync('{*,{.ci,.github,deploy,docs,examples,local,packages,services,test}/**/*}', {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|\.tap|dist)(\/|$)/.test(String(path)),
}).map((path) => `/${path}`)

t.test('every file that a comment names is there, be it by the end of its path', async (t) => {
  const named = sourceFiles()
    .filter(({ path }) => !/\/test\/|^test\//.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/(?:^\s*(?:\/\/|\/?\*)| \/\/ )(.*)$/gm)].flatMap(([, comment = '']) =>
        [...comment.matchAll(/(?<![\w:/])[\w./-]+\.(?:ts|mjs|md|sh|yaml|conf)\b/g)].map(([name]) => ({ path, name })),
      ),
    )
  t.ok(named.length > 20)
  const missing = named.filter(
    ({ name }) => !writtenPlaces.some((place) => place.endsWith(`/${name.replace(/^(\.\.?\/)+/, '')}`)),
  )
  t.same(
    missing.map(({ path, name }) => `${path}: ${name}`),
    [],
  )
})

const contributing = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')

/** The lists of what a change takes: their headings. */
const listHeadings: readonly string[] = [...contributing.matchAll(/^## (Add an? .*)$/gm)].map(
  ([, heading = '']) => heading,
)

/** The text below a heading. */
const section = (heading: string) => contributing.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? ''

/** The numbers of a list's steps: each says where, what, and who tells when it is missing. */
const stepsOf = (heading: string): readonly number[] =>
  [...section(heading).matchAll(/^(\d+)\. .+?: .+ \*\(.+\)\*$/gm)].map(([, number]) => Number(number))

/** The most that a reader is asked for: words, and steps of each list in CONTRIBUTING.md. The numbers only fall. */
const wordsMax = 55_000
/** And of what is in the repository. They only fall, too. */
const filesMax = 1_235
const linesOfTypeScriptMax = 144_803
const stepsMax: Readonly<Record<string, number>> = {
  'Add a field': 5,
  'Add an endpoint': 6,
  'Add an event': 5,
  'Add a ledger type': 7,
  'Add a team command': 5,
  'Add a table or a column': 6,
}

t.test('files and lines are within their budgets', async (t) => {
  const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).trim().split('\n')
  t.ok(files.length <= filesMax, `${files.length} files`)
  const texts = files.filter((path) => path.endsWith('.ts') && existsSync(join(root, path))).map(read)
  const lines = texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0)
  t.ok(lines <= linesOfTypeScriptMax, `${lines} lines of TypeScript`)
})

t.test('documents and lists are within their budgets', async (t) => {
  // Those that a program writes count too: a reader meets them all.
  const words = documents.reduce((sum, document) => sum + (read(document).match(/\S+/g) ?? []).length, 0)
  t.ok(words <= wordsMax, `${words} words`)
  t.same([...listHeadings].sort(), Object.keys(stepsMax).sort())
  for (const [heading, most] of Object.entries(stepsMax)) {
    const steps = stepsOf(heading)
    t.ok(steps.length > 0 && steps.length <= most, `${heading}: ${steps.length} steps`)
    t.same(
      steps,
      [...steps.keys()].map((index) => index + 1),
      heading,
    )
  }
})
