import { createInterface } from 'node:readline/promises'

/** @throws when the answer is not yes, or nobody is there to give one */
export async function confirm(question: string): Promise<void> {
  if (!process.stdin.isTTY) throw new Error(`${question} This cannot be undone: repeat the command with --yes.`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${question} [y/N] `)
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('not done')
}
