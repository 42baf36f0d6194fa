/** So many files share a process at most: the others of a group wait for it, and a crash takes its time from all. */
export const groupFilesMax = 12

/**
 * What a process has once: its environment, signals, standard streams and arguments, hooks of its loader, its
 * telemetry. A file that touches one of these would disturb the next, and one that starts processes, a system or a
 * browser gains nothing from company.
 */
const ownProcess =
  /\bprocess\.|node:child_process|registerHooks|globalThis|clock\.enter|opentelemetry|startSystem|sharedSystem|startBrowser/

/** Whether a test file may run in one process with others. "In a process of its own", said in a comment, keeps it out. */
export const mayShareProcess = (source: string): boolean =>
  !ownProcess.test(source) && !source.includes('In a process of its own')

/** Whether a test file works in the system that several share. */
export const sharesSystem = (source: string): boolean => /\bsharedSystem\(/.test(source)

/** Files of the same folder that may share a process, as groups; every other file is alone in its own. */
export function inGroups<T extends { readonly directory: string }>(
  files: readonly T[],
  mayShare: (file: T) => boolean,
): readonly (readonly [T, ...T[]])[] {
  const groups: [T, ...T[]][] = []
  const open = new Map<string, [T, ...T[]]>()
  for (const file of files) {
    const group = mayShare(file) ? open.get(file.directory) : undefined
    if (group !== undefined && group.length < groupFilesMax) {
      group.push(file)
      continue
    }
    const begun: [T, ...T[]] = [file]
    groups.push(begun)
    if (mayShare(file)) open.set(file.directory, begun)
  }
  return groups
}
