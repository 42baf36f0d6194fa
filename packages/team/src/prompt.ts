import { createInterface } from 'node:readline/promises'
import { visible } from './output.ts'

/**
 * @param asked may hold text that an operator wrote
 * @throws when the answer is not yes, or nobody is there to give one
 */
export async function confirm(asked: string): Promise<void> {
  const question = visible(asked)
  if (!process.stdin.isTTY) throw new Error(`${question} Nobody is here to answer: repeat the command with --yes.`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${question} [y/N] `)
  terminal.close()
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('not done')
}
