import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { resolveImport, type SourceFile } from '../structure/source-files.ts'
import { root } from './files.ts'

/** Where `@backoffice/wallet/migrations` is, by the package's exports. */
function faces(): ReadonlyMap<string, string> {
  const manifests = globSync('{packages,services}/*/package.json', { cwd: root })
  return new Map(
    manifests.flatMap((manifest) => {
      const { name, exports } = JSON.parse(readFileSync(join(root, manifest), 'utf8')) as {
        readonly name: string
        readonly exports?: Readonly<Record<string, string>>
      }
      return Object.entries(exports ?? {}).map(([face, file]): [string, string] => [
        join(name, face),
        join(dirname(manifest), file),
      ])
    }),
  )
}

/** `import { a, type B } from './c.ts'` or `export … from`: which word, whether only types, the names and the module. */
const listed = /^(import|export)\s+(type\s+)?\{([^}]*)\}\s*from\s*'([^']+)'/gm
const starred = /^export \* from '([^']+)'/gm
const declared = /^export (?:async |abstract )*(?:const|let|function\*?|class) (\w+)/gm

/** Names that are more than a type, as the module calls them that they come from, by the name that they have here. */
const valuesIn = (list: string) =>
  list
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '' && !name.startsWith('type '))
    .map((name) => name.split(/\s+as\s+/))
    .map(([there = '', here = there]) => ({ there, here }))

/** A module by what it offers. */
interface Offer {
  readonly own: ReadonlySet<string>
  readonly passedOn: ReadonlyMap<string, { readonly module: string; readonly name: string }>
  readonly all: readonly string[]
}

/**
 * Which file runs code of which other. What only passes names on, such as the face of a package, is looked through: who
 * takes one name of it does not depend on the rest. Types are left out, since Node takes them away.
 */
export class Imports {
  readonly #importers = new Map<string, Set<string>>()
  readonly #offers: ReadonlyMap<string, Offer>

  constructor(sources: readonly SourceFile[]) {
    const places = faces()
    const moduleOf = (from: string, specifier: string) => {
      const name = resolveImport(from, specifier)
      return places.get(name) ?? name
    }
    this.#offers = new Map(sources.map(({ path, text }) => [path, offerOf(path, text, moduleOf)]))
    for (const { path, text, imports } of sources) {
      const byName = new Set<string>()
      for (const [, word, onlyTypes, list = '', specifier = ''] of text.matchAll(listed)) {
        const module = moduleOf(path, specifier)
        byName.add(module)
        if (word === 'export' || onlyTypes !== undefined) continue
        for (const { there } of valuesIn(list)) this.#add(this.#home(module, there) ?? module, path)
      }
      for (const name of imports) {
        const module = places.get(name) ?? name
        if (!byName.has(module)) this.#add(module, path)
      }
    }
  }

  /**
   * A file and all that reach it by imports.
   * @param isIn of which files to take account
   */
  reaching(path: string, isIn: (path: string) => boolean): ReadonlySet<string> {
    const reached = new Set([path])
    for (const next of reached)
      for (const importer of this.#importers.get(next) ?? []) if (isIn(importer)) reached.add(importer)
    return reached
  }

  #add(imported: string, importer: string): void {
    const importers = this.#importers.get(imported) ?? new Set()
    this.#importers.set(imported, importers.add(importer))
  }

  /** The module that a name of a module is made in. */
  #home(module: string, name: string): string | undefined {
    const offer = this.#offers.get(module)
    if (offer === undefined || offer.own.has(name)) return offer && module
    const passed = offer.passedOn.get(name)
    if (passed !== undefined) return this.#home(passed.module, passed.name) ?? passed.module
    for (const other of offer.all) {
      const home = this.#home(other, name)
      if (home !== undefined) return home
    }
    return undefined
  }
}

function offerOf(path: string, text: string, moduleOf: (from: string, specifier: string) => string): Offer {
  const passedOn = [...text.matchAll(listed)]
    .filter(([, word, onlyTypes]) => word === 'export' && onlyTypes === undefined)
    .flatMap(([, , , list = '', specifier = '']) =>
      valuesIn(list).map(({ there, here }) => [here, { module: moduleOf(path, specifier), name: there }] as const),
    )
  return {
    own: new Set([...text.matchAll(declared)].map(([, name = '']) => name)),
    passedOn: new Map(passedOn),
    all: [...text.matchAll(starred)].map(([, specifier = '']) => moduleOf(path, specifier)),
  }
}
