// Puts together the packages of one program's image: of all that are installed those that it can load, where they are.
//
//   node deploy/docker/carry.ts <folder to make> <entry>…
//
// The imports of our own sources say which, from the entries on, and then the dependencies that each package declares.
// npm cannot tell: it installs what a package of ours depends on for all of its entries, and for its tests too.
import {
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
} from 'node:fs'
import { createRequire, isBuiltin } from 'node:module'
import { dirname, join, relative } from 'node:path'

const root = join(import.meta.dirname, '../..')

/** Not those of types, which are stripped before anything is loaded. */
const staticImport = /^(?:import|export)\s+(?!type\b)(?:[\w*\s{},$]+\sfrom\s+)?'([^']+)'/gm
const dynamicImport = /\bimport\('([^']+)'\)/g
/** The address of a file that is sent to browsers. */
const resolvedFile = /\bimport\.meta\.resolve\('([^']+)'\)/g
/** The address of a module that runs as a thread. */
const threadFile = /\bnew Worker\(new URL\('([^']+)'/g

interface Loaded {
  /** Links to our own packages. */
  readonly links: ReadonlySet<string>
  /** Folders of other people's packages. */
  readonly packages: ReadonlySet<string>
}

function loadedBy(entries: readonly string[]): Loaded {
  const [files, links, packages] = [new Set<string>(), new Set<string>(), new Set<string>()]
  const visit = (file: string) => {
    if (files.has(file)) return
    files.add(file)
    const source = readFileSync(file, 'utf8')
    for (const pattern of [staticImport, resolvedFile, threadFile])
      for (const [, specifier = ''] of source.matchAll(pattern)) follow(file, specifier)
    // What is only for development, such as its stack, is imported when it is wanted, and not installed.
    for (const [, specifier = ''] of source.matchAll(dynamicImport)) follow(file, specifier, { mayLack: true })
  }
  const follow = (file: string, specifier: string, { mayLack = false } = {}) => {
    if (isBuiltin(specifier)) return
    if (specifier.startsWith('.')) return visit(join(dirname(file), specifier))
    const name = packageOf(specifier)
    const found = lookedUp(dirname(file), name)
    if (found === undefined && mayLack) return
    if (found === undefined) throw new Error(`${relative(root, file)} imports ${name}, which is not installed`)
    if (!lstatSync(found).isSymbolicLink()) return void packages.add(found)
    links.add(found)
    visit(createRequire(file).resolve(specifier))
  }
  for (const entry of entries) visit(join(root, entry))
  return { links, packages }
}

const packageOf = (specifier: string) =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/')

/** As Node does: beside the folder, then upwards. */
function lookedUp(folder: string, name: string): string | undefined {
  const candidate = join(folder, 'node_modules', name)
  if (existsSync(candidate)) return candidate
  return folder === root ? undefined : lookedUp(dirname(folder), name)
}

interface Declared {
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

/** With everything that they depend on, peers that are installed among it. */
function withDependencies(packages: ReadonlySet<string>): ReadonlySet<string> {
  const all = new Set<string>()
  const visit = (folder: string) => {
    if (all.has(folder)) return
    all.add(folder)
    const declared = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Declared
    const { dependencies = {}, optionalDependencies = {}, peerDependencies = {} } = declared
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })) {
      const found = lookedUp(folder, name)
      if (found !== undefined) visit(found)
      else if (name in dependencies && !(name in optionalDependencies))
        throw new Error(`${relative(root, folder)} needs ${name}, which is not installed`)
    }
  }
  for (const folder of packages) visit(folder)
  return all
}

/** The same files under a second name: they are there only once. */
function link(from: string, into: string): void {
  mkdirSync(into, { recursive: true })
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(into, entry.name)]
    if (entry.isDirectory()) link(source, target)
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target)
    else linkSync(source, target)
  }
}

/** What an image of these entries is given. */
export function carriedBy(entries: readonly string[]): Loaded {
  const { links, packages } = loadedBy(entries)
  // What a package has in a node_modules of its own comes with it.
  const isInAnother = (path: string) => relative(root, path).split('node_modules').length > 2
  return { links, packages: new Set([...withDependencies(packages)].filter((path) => !isInAnother(path))) }
}

function carry(folder: string, entries: readonly string[]): void {
  const { links, packages } = carriedBy(entries)
  const place = (path: string) => join(root, folder, relative(root, path))
  for (const path of links) {
    mkdirSync(dirname(place(path)), { recursive: true })
    symlinkSync(readlinkSync(path), place(path))
    // It says what the names of its entries mean, also where an image has only some of its sources.
    const declaration = join(realpathSync(path), 'package.json')
    mkdirSync(dirname(place(declaration)), { recursive: true })
    linkSync(declaration, place(declaration))
  }
  for (const path of packages) link(path, place(path))
}

if (import.meta.main) {
  const [folder = '', ...entries] = process.argv.slice(2)
  carry(folder, entries)
}
