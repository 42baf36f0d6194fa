const systemTests = '@backoffice/system-tests'

export interface Selection {
  /** Parts of the names of workspaces; without any, every workspace runs. */
  readonly words: readonly string[]
  /** Paths in test/, when not all of its tests are wanted. */
  readonly files: readonly string[]
}

/**
 * What `npm test -- wallet e2e` means: the name of a folder in test/ is the tests in it, every other name is part of a
 * workspace's name.
 * @param systemTestFiles paths in test/
 */
export function select(names: readonly string[], systemTestFiles: readonly string[]): Selection {
  const filesOf = (name: string) => systemTestFiles.filter((path) => path.startsWith(`${name}/`))
  const folders = names.filter((name) => filesOf(name).length > 0)
  const words = names.filter((name) => !folders.includes(name))
  if (folders.length > 0) words.push(systemTests)
  return { words, files: folders.flatMap(filesOf).sort() }
}
