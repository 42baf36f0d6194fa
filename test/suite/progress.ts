import { existsSync, readFileSync } from 'node:fs'

export interface WatchedWorkspace {
  readonly name: string
  readonly resultsFile: string
}

const pollMs = 300
/** Of what a failed file says about its failures. */
const diagnosticLinesMax = 60

/**
 * Prints a line for each test file as soon as tap has written its result.
 * @returns a function that prints what is left and stops.
 */
export function watchProgress(workspaces: readonly WatchedWorkspace[], print: (line: string) => void): () => void {
  const printed = new Map<string, number>()
  const report = () => {
    for (const { name, resultsFile } of workspaces) {
      if (!existsSync(resultsFile)) continue
      const tap = readFileSync(resultsFile, 'utf8')
      const files = finishedFiles(tap)
      for (const file of files.slice(printed.get(name) ?? 0)) {
        print(`  ${file.ok ? 'ok  ' : 'FAIL'}  ${name}  ${file.path}  ${file.seconds} s`)
        // Where it happens, too: the log of a long run may be cut before its end.
        if (!file.ok) for (const line of diagnosticsOf(tap, file.path)) print(`        ${line}`)
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
    path: path ?? '',
    seconds: (Number(ms ?? 0) / 1000).toFixed(1),
  }))
}

/** What stands behind each `not ok` of a file that ended badly, innermost first as tap wrote it. */
export function diagnosticsOf(tap: string, path: string): readonly string[] {
  const begin = tap.indexOf(`# Subtest: ${path}`)
  const end = tap.indexOf(`\nnot ok `, Math.max(begin, 0))
  const lines = tap.slice(Math.max(begin, 0), end === -1 ? undefined : end).split('\n')
  const kept: string[] = []
  let inside = false
  for (const line of lines) {
    if (/^\s*not ok /.test(line)) inside = true
    else if (/^\s*(ok |# Subtest|\d+\.\.\d+)/.test(line)) inside = false
    if (inside) kept.push(line)
  }
  return kept.slice(0, diagnosticLinesMax)
}
