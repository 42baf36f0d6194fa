import { existsSync, readFileSync } from 'node:fs'

export interface WatchedWorkspace {
  readonly name: string
  readonly resultsFile: string
}

const pollMs = 300

/**
 * Prints a line for each test file as soon as tap has written its result.
 * @returns a function that prints what is left and stops.
 */
export function watchProgress(workspaces: readonly WatchedWorkspace[], print: (line: string) => void): () => void {
  const printed = new Map<string, number>()
  const report = () => {
    for (const { name, resultsFile } of workspaces) {
      if (!existsSync(resultsFile)) continue
      const files = finishedFiles(readFileSync(resultsFile, 'utf8'))
      for (const file of files.slice(printed.get(name) ?? 0)) {
        print(`  ${file.ok ? 'ok  ' : 'FAIL'}  ${name}  ${file.path}  ${file.seconds} s`)
      }
      printed.set(name, files.length)
    }
  }
  const timer = setInterval(report, pollMs)
  return () => {
    clearInterval(timer)
    report()
  }
}

function finishedFiles(tap: string) {
  return [...tap.matchAll(/^(not )?ok \d+ - (\S+)(?:.*# time=([\d.]+)ms)?/gm)].map(([, not, path, ms]) => ({
    ok: not === undefined,
    path,
    seconds: (Number(ms ?? 0) / 1000).toFixed(1),
  }))
}
