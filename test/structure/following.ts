import { type Addition, type Changes, edited, type Slip } from './additions/addition.ts'
import { commandsOf, type Row, rowsOf } from './lists.ts'
import type { Outcome, WorkingCopy } from './working-copy.ts'

/** A list that has been followed, and the files that each of its rows changed. */
export interface Followed {
  readonly addition: Addition
  readonly rows: readonly Row[]
  readonly files: ReadonlyMap<number, readonly string[]>
  /** What a file was before any list was followed. */
  readonly original: (file: string) => string | undefined
  readonly before: Changes
  readonly after: Changes
}

/** Does what the rows of a list say, in their order: the edits, and the commands that a row names. */
export async function follow(addition: Addition, before: Changes, copy: WorkingCopy): Promise<Followed> {
  const rows = rowsOf(addition.list)
  const original = (file: string) => copy.original(file)
  const files = new Map<number, readonly string[]>()
  let after = before
  for (const row of rows) {
    const former = after
    const edits = addition.edits.filter((edit) => edit.row === row.number)
    after = new Map([...former, ...edited(edits, (file) => former.get(file) ?? original(file))])
    copy.show(after)
    for (const { script, folder } of commandsOf(row)) {
      await succeed(copy.run('npm', ['run', '-s', script], { folder }))
      after = copy.changes()
    }
    files.set(row.number, changedFiles(former, after))
  }
  // As `npm run format` does; what is left for the linter to find is an error.
  await succeed(copy.run('biome', ['check', '--write', '--error-on-warnings', ...changedFiles(before, after)]))
  return { addition, rows, files, original, before, after: copy.changes() }
}

const changedFiles = (before: Changes, after: Changes) =>
  [...after].filter(([file, text]) => before.get(file) !== text).map(([file]) => file)

async function succeed(outcome: Promise<Outcome>): Promise<void> {
  const { ok, output } = await outcome
  if (!ok) throw new Error(output)
}

/** A slip, and the list that it is made in. */
export interface Made {
  readonly followed: Followed
  readonly slip: Slip
}

/** Lists that were followed one after another, but for these slips. */
export function withSlips(walked: readonly Followed[], made: readonly Made[]): Changes {
  const changes = new Map(walked.at(-1)?.after)
  const put = (file: string, text: string | undefined) =>
    text === undefined ? changes.delete(file) : changes.set(file, text)
  for (const { followed, slip } of made) {
    switch (slip.slip) {
      case 'left out':
        for (const file of filesOf({ followed, slip })) put(file, textWithout(file, followed))
        break
      case 'done wrong': {
        const text = changes.get(slip.file)
        if (!text?.includes(slip.replace)) throw new Error(`${slip.file} has no ${slip.replace} any more`)
        put(
          slip.file,
          text.replace(slip.replace, () => slip.by),
        )
        break
      }
      case 'misnamed':
        put(slip.as, changes.get(slip.file))
        changes.delete(slip.file)
        break
      case 'done':
        break
      default:
        slip satisfies never
    }
  }
  return changes

  function textWithout(file: string, { before, original }: Followed): string | undefined {
    const edits = walked.flatMap((followed) => followed.addition.edits.map((edit) => ({ followed, edit })))
    const ofFile = edits.filter(({ edit }) => edit.file === file)
    // Nobody edits what a command writes: left out, it is as it was.
    if (ofFile.length === 0) return before.get(file)
    const isLeftOut = (one: (typeof ofFile)[number]) =>
      made.some(
        ({ followed, slip }) =>
          slip.slip === 'left out' &&
          followed === one.followed &&
          slip.row === one.edit.row &&
          (slip.file ?? file) === file,
      )
    const kept = ofFile.filter((one) => !isLeftOut(one)).map(({ edit }) => edit)
    return edited(kept, original).get(file) ?? original(file)
  }
}

/** The files in which the slip is made. */
function filesOf({ followed, slip }: Made): readonly string[] {
  if ('file' in slip && slip.file !== undefined) return [slip.file]
  return followed.files.get(slip.row) ?? []
}

/** The slips of one list, in as few rounds as can be: none in the file where the compiler tells of another of its round. */
export function compilerRounds(made: readonly Made[]): readonly (readonly Made[])[] {
  const rounds: Made[][] = []
  for (const one of made) {
    const round = rounds.find((others) => others.every((other) => !hides(one, other) && !hides(other, one)))
    if (round === undefined) rounds.push([one])
    else round.push(one)
  }
  return rounds
}

/** Whether what the compiler says of the other may be missing, or look different, because of this one. */
function hides(one: Made, other: Made): boolean {
  const told = toldIn(other)
  return told === undefined || told === toldIn(one) || filesOf(one).some((file) => file.endsWith(told))
}

/** The end of the path in whose line the compiler tells of the slip. */
function toldIn({ slip }: Made): string | undefined {
  return /[\w-]+\.ts/.exec(slip.says.source.replaceAll('\\', ''))?.[0]
}
