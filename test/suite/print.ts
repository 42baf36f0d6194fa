import { styleText } from 'node:util'

export function print(line = ''): void {
  process.stdout.write(`${line}\n`)
}

export function printList(title: string, lines: readonly string[]): void {
  if (lines.length > 0) print(`\n${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`)
}

/** What nobody should pass over, although the run passed. It is red where the terminal has colours. */
export function printWarning(title: string, lines: readonly string[]): void {
  if (lines.length > 0) print(`\n${styleText('red', [`${title}:`, ...lines.map((line) => `  ${line}`)].join('\n'))}`)
}

export const lastLine = (passed: number, failed: number, skipped: number) =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
