import { cpSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'

interface Rule {
  readonly pattern: RegExp
  readonly included: boolean
  readonly glob: string
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
    if (!statSync(from).isDirectory()) {
      if (this.includes(source)) copyTo(from, into.endsWith('/') ? join(into, basename(source)) : into)
      return
    }
    for (const path of this.#filesBelow(source === '.' ? '' : source))
      copyTo(join(this.#root, path), join(into, relative(source, path)))
  }

  #filesBelow(folder: string): readonly string[] {
    return readdirSync(join(this.#root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`
      if (!entry.isDirectory()) return entry.isFile() && this.includes(path) ? [path] : []
      // Something inside may be included although the folder is not.
      const mayHold =
        this.includes(path) || this.#rules.some(({ included, glob }) => included && glob.startsWith(`${path}/`))
      return mayHold ? this.#filesBelow(path) : []
    })
  }
}

function copyTo(from: string, into: string): void {
  mkdirSync(dirname(into), { recursive: true })
  cpSync(from, into)
}

function rule(line: string): Rule {
  const included = line.startsWith('!')
  const glob = included ? line.slice(1) : line
  const expression = glob
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*\*\/|\*/g, (stars) => (stars === '*' ? '[^/]*' : '(.*/)?'))
  return { included, glob, pattern: new RegExp(`^${expression}$`) }
}
