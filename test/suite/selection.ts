const systemTests = '@backoffice/system-tests'

export interface Selection {
  /** For turbo; without any, every workspace runs. */
  readonly filters: readonly string[]
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
  const filters = names.filter((name) => !folders.includes(name)).map((name) => `--filter=*${name}*`)
  if (folders.length > 0) filters.push(`--filter=${systemTests}`)
  return { filters, files: folders.flatMap(filesOf).sort() }
}
