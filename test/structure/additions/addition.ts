type Replacement = string | ((found: string, ...groups: string[]) => string)

/** What a row of a list asks of one file. An anchor stands in the file exactly once; `^` and `$` are a line's. */
export type Edit = { readonly row: number; readonly file: string } & (
  | { readonly create: string }
  | { readonly before: string; readonly insert: string }
  | { readonly after: string; readonly insert: string }
  | { readonly replace: string | RegExp; readonly by: Replacement }
)

/** How a row can be forgotten or done wrong, and who must tell then. */
export type Slip = {
  readonly row: number
  /** The compiler or a test: a file, or `file: name`, where the name may be cut off. */
  readonly toldBy: string
  readonly says: RegExp
} /** Of what the row asks, that of one file, or else all of it. */ & (
  | { readonly slip: 'left out'; readonly file?: string }
  | { readonly slip: 'done wrong'; readonly file: string; readonly replace: string; readonly by: string }
  | { readonly slip: 'misnamed'; readonly file: string; readonly as: string }
  /** None: to have followed the list is what is told. */
  | { readonly slip: 'done' }
)

export const compiler = 'the compiler'

/** Something that one of CONTRIBUTING.md's lists is about, added as the list says. */
export interface Addition {
  /** The heading of the list. */
  readonly list: string
  readonly edits: readonly Edit[]
  /** Rows that say "if" or "where", and for what is added here mean nothing. */
  readonly spared: readonly number[]
  /** Tests that pass when every row is done. */
  readonly tests: readonly string[]
  readonly slips: readonly Slip[]
}

/** Files whose text is not, or not yet, that of the repository, by path. */
export type Changes = ReadonlyMap<string, string>

/**
 * @param read the text of a file before the edits
 * @throws when an anchor is not there: the file has moved on, and the edit must follow it
 */
export function edited(edits: readonly Edit[], read: (file: string) => string | undefined): Changes {
  const changes = new Map<string, string>()
  for (const edit of edits) changes.set(edit.file, textAfter(edit, changes.get(edit.file) ?? read(edit.file)))
  return changes
}

function textAfter(edit: Edit, text: string | undefined): string {
  if ('create' in edit) {
    if (text !== undefined)
      throw new Error(`${edit.file} is there already: add something else in test/structure/additions`)
    return edit.create
  }
  if (text === undefined) throw new Error(`${edit.file} is not there any more`)
  const anchor = 'before' in edit ? edit.before : 'after' in edit ? edit.after : edit.replace
  const pattern = new RegExp(typeof anchor === 'string' ? RegExp.escape(anchor) : anchor, 'gm')
  const found = text.match(pattern)?.length ?? 0
  if (found !== 1)
    throw new Error(`${edit.file} has ${found} times ${anchor}: choose another anchor in test/structure/additions`)
  if ('before' in edit) return text.replace(pattern, (anchor) => edit.insert + anchor)
  if ('after' in edit) return text.replace(pattern, (anchor) => anchor + edit.insert)
  // Two calls, since no one signature of replace takes both.
  return typeof edit.by === 'string' ? text.replace(pattern, edit.by) : text.replace(pattern, edit.by)
}
