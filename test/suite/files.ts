import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../../', import.meta.url))

/** `npm test`, which whoever changes something waits for, and `npm run proofs`, which takes longer. */
export type Tier = 'test' | 'proofs'

export interface TestFile {
  /** Its name. */
  readonly workspace: string
  /** Of the workspace. */
  readonly directory: string
  /** In the workspace. */
  readonly path: string
  /** From the root of the repository. */
  readonly place: string
  readonly tier: Tier
  /** It does little but wait, so that it may run beside those that keep the processor busy. */
  readonly waits: boolean
  /** It works in the system that several share. */
  readonly sharesSystem: boolean
  /** It changes nothing that a process has once, such as its signals, its exit status, its telemetry. */
  readonly mayShareProcess: boolean
}

/** What the text of a test file says about it, most of it in the comments that it begins with. */
export function readSource(text: string): Pick<TestFile, 'tier' | 'waits' | 'sharesSystem' | 'mayShareProcess'> {
  const [head = ''] = /^(\/\/.*\n)*/.exec(text) ?? []
  const isProof = /^\/\/ proof: \S/m.test(head)
  return {
    tier: isProof ? 'proofs' : 'test',
    waits: /^\/\/ waits: \S/m.test(head),
    sharesSystem: /^(?:const .* = )?await sharedSystem\(/m.test(text),
    // A proof takes long, and would only wait for others of its kind.
    mayShareProcess: !isProof && !/^\/\/ In a process of its own: \S/m.test(head),
  }
}

/** Of all workspaces, those of both tiers. */
export function listTestFiles(): readonly TestFile[] {
  return globSync(['{packages,services}/*/package.json', '{test,bench}/package.json'], { cwd: root })
    .sort()
    .flatMap((manifest) => {
      const { name: workspace } = JSON.parse(readFileSync(join(root, manifest), 'utf8')) as { name: string }
      const folder = dirname(manifest)
      const directory = join(root, folder)
      const paths = globSync(folder === 'test' ? '*/**/*.test.ts' : 'test/**/*.test.ts', { cwd: directory }).sort()
      return paths.map((path) => {
        const source = readFileSync(join(directory, path), 'utf8')
        return { workspace, directory, path, place: `${folder}/${path}`, ...readSource(source) }
      })
    })
}

/**
 * What `npm test -- wallet e2e` means: the name of a folder in test/ is the tests in it, every other name is part of a
 * workspace's name, or the path of a file.
 */
export function named(files: readonly TestFile[], names: readonly string[]): readonly TestFile[] {
  if (names.length === 0) return files
  const isFolder = (name: string) => files.some(({ place }) => place.startsWith(`test/${name}/`))
  return files.filter(({ workspace, place }) =>
    names.some(
      (name) => (isFolder(name) ? place.startsWith(`test/${name}/`) : workspace.includes(name)) || name === place,
    ),
  )
}
