import { cpSync, readFileSync, statSync } from 'node:fs'
import { basename, join, relative } from 'node:path'

interface Rule {
  readonly pattern: RegExp
  readonly included: boolean
}

/** What `docker build` sends of a folder: all but what .dockerignore leaves out. */
export class BuildContext {
  readonly #root: string
  readonly #rules: readonly Rule[]

  constructor(root: string) {
    this.#root = root
    const lines = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n')
    this.#rules = lines.filter((line) => line !== '' && !line.startsWith('#')).map(rule)
  }

  /** The last rule that matches a path, or a folder that it is in, decides. */
  includes(path: string): boolean {
    const parts = path.split('/')
    const folders = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
    const last = this.#rules.findLast(({ pattern }) => folders.some((folder) => pattern.test(folder)))
    return last?.included ?? true
  }

  /** As COPY does: a folder's contents, or a file; into a target that ends with a slash under its own name. */
  copy(source: string, into: string): void {
    const from = join(this.#root, source)
    const isFolder = statSync(from).isDirectory()
    cpSync(from, into.endsWith('/') && !isFolder ? join(into, basename(source)) : into, {
      recursive: true,
      filter: (path) => this.includes(relative(this.#root, path)),
    })
  }
}

function rule(line: string): Rule {
  const included = line.startsWith('!')
  const glob = included ? line.slice(1) : line
  const expression = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*\/|\*/g, (stars) => (stars === '*' ? '[^/]*' : '(.*/)?'))
  return { included, pattern: new RegExp(`^${expression}$`) }
}
