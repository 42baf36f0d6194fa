/** A part of a statement as PostgreSQL understands it: a node, a list of parts, or a value. */
export type Part = Node | readonly Part[] | string

export class Node {
  /** `QUERY`, `VAR`, `OPEXPR`: PostgreSQL's name for it. */
  readonly kind: string
  readonly #fields: ReadonlyMap<string, Part>

  constructor(kind: string, fields: ReadonlyMap<string, Part>) {
    this.kind = kind
    this.#fields = fields
  }

  value(field: string): string {
    const part = this.#fields.get(field)
    return typeof part === 'string' ? part : ''
  }

  number(field: string): number {
    return Number(this.value(field))
  }

  /** Undefined where the field is empty. */
  node(field: string): Node | undefined {
    const part = this.#fields.get(field)
    return part instanceof Node ? part : undefined
  }

  /** Of a list, those of its parts that are nodes. */
  nodes(field: string): readonly Node[] {
    return this.parts(field).filter((part) => part instanceof Node)
  }

  parts(field: string): readonly Part[] {
    const part = this.#fields.get(field)
    return Array.isArray(part) ? part : []
  }
}

/** Reads the text of a tree, which is `{NAME :field part :field part}`, `(part part)` or a word, one in another. */
export function parseTree(text: string): Part {
  const words = text.match(/[(){}]|(?:\\.|[^\s(){}\\])+/gs) ?? []
  let at = 0
  const parts = (end: (word: string) => boolean): Part[] => {
    const found: Part[] = []
    while (at < words.length && !end(words[at] as string)) found.push(part())
    return found
  }
  const part = (): Part => {
    const word = words[at++] as string
    if (word === '(') {
      const list = parts((next) => next === ')')
      at += 1
      return list
    }
    if (word !== '{') return word.replaceAll(/\\(.)/gs, '$1')
    const kind = words[at++] as string
    const fields = new Map<string, Part>()
    for (let name = words[at++]; name !== undefined && name !== '}'; name = words[at++]) {
      // A constant's bytes are several words, of which none is asked for.
      const [first = ''] = parts((next) => next === '}' || next.startsWith(':'))
      fields.set(name.slice(1), first)
    }
    return new Node(kind, fields)
  }
  return part()
}
