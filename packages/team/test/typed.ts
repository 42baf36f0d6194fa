import type { Input, Operation } from '@backoffice/contracts'
import { captured, type WrittenText } from '@backoffice/test-kit/captured'
import { program } from '../src/main.ts'
import { Session } from '../src/session.ts'

export interface Sent {
  readonly operation: Operation
  readonly input: Input<Operation>
  readonly operationId: string
  readonly approves?: string
}

export interface Typed extends WrittenText {
  readonly sent: readonly Sent[]
}

type Reply = (operation: Operation, input: Input<Operation>) => unknown

/** An operator that has a brand in each environment: what a command that names one asks for first. */
const operator = {
  id: 'op_1',
  brands: [
    { id: 'brd_sandbox', environment: 'sandbox' },
    { id: 'brd_production', environment: 'production' },
  ],
}

/** Runs the command line as it was typed, against services that give these replies. Nothing else may write meanwhile. */
export async function typed(words: readonly string[], reply: Reply = () => ({})): Promise<Typed> {
  const sent: Sent[] = []
  const call = async (operation: Operation, options: Omit<Sent, 'operation'>) => {
    sent.push({ operation, ...options })
    // `operators show` is about the operator itself.
    const isLookup = operation.id === 'getOperator' && words.slice(0, 2).join(' ') !== 'operators show'
    return isLookup ? operator : reply(operation, options.input)
  }
  const open = async () => new Session({ call } as never)
  const { error, ...written } = await captured(() => program(open).parseAsync(words, { from: 'user' }))
  return { sent, ...written, ...(error === undefined ? {} : { error }) }
}
