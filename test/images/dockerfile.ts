import { readFileSync } from 'node:fs'

export type Step =
  | { readonly kind: 'copy'; readonly sources: readonly string[]; readonly target: string; readonly from?: string }
  | { readonly kind: 'run'; readonly command: string }

export interface Stage {
  readonly name: string
  /** A stage above, or an argument: an image of somebody else's. */
  readonly base: string
  readonly steps: readonly Step[]
  readonly environment: Readonly<Record<string, string>>
  readonly user?: string
  readonly entrypoint?: readonly string[]
}

/** Reads as much of the language as our Dockerfile uses. @throws on a line that it does not know */
export function readDockerfile(file: string): ReadonlyMap<string, Stage> {
  const stages = new Map<string, Stage>()
  let stage: (Stage & { steps: Step[] }) | undefined
  const change = (part: Partial<Stage>) => {
    if (stage === undefined) throw new Error('an instruction before the first FROM')
    stage = Object.assign(stage, part)
  }
  for (const line of logicalLines(readFileSync(file, 'utf8'))) {
    const [instruction = '', ...words] = line.split(/\s+/)
    const rest = words.join(' ')
    if (instruction === 'FROM') {
      const [base = '', , name = ''] = words
      const parent = stages.get(base)
      stage = { ...parent, name, base, steps: [], environment: parent?.environment ?? {} }
      stages.set(name, stage)
    } else if (instruction === 'COPY') stage?.steps.push(copy(words))
    else if (instruction === 'RUN') stage?.steps.push({ kind: 'run', command: rest })
    else if (instruction === 'ENV') change({ environment: { ...stage?.environment, ...assignments(words) } })
    else if (instruction === 'USER') change({ user: rest })
    else if (instruction === 'ENTRYPOINT') change({ entrypoint: JSON.parse(rest) as string[] })
    else if (!['ARG', 'EXPOSE', 'LABEL', 'WORKDIR'].includes(instruction)) throw new Error(`not understood: ${line}`)
  }
  return stages
}

function logicalLines(text: string): string[] {
  const withoutComments = text.replace(/^#.*\n/gm, '')
  return withoutComments
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

function copy(words: readonly string[]): Step {
  const flag = words.find((word) => word.startsWith('--'))
  const paths = words.filter((word) => word !== flag)
  const step = { kind: 'copy', sources: paths.slice(0, -1), target: paths.at(-1) ?? '' } as const
  if (flag === undefined) return step
  if (!flag.startsWith('--from=')) throw new Error(`not every builder knows COPY ${flag}`)
  return { ...step, from: flag.slice('--from='.length) }
}

const assignments = (words: readonly string[]) =>
  Object.fromEntries(words.map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]))
