import { type StringOptions, Type } from '@sinclair/typebox'

const linePattern = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$'
const linesPattern = '^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$'

/**
 * One line of text in a request: a name, a label, a reference, a destination. It has no control characters (C0, DEL,
 * C1), with which it could move a terminal's cursor, or look like two rows of a list, for whoever reads it later.
 */
export const Line = (options: StringOptions) => Type.String({ ...options, pattern: linePattern })

/**
 * Sentences in a request: a reason. Tabs and line ends are allowed, because a reason may be copied from a payment
 * provider's message, and refusing it would leave a deposit pending for the sake of a line end.
 */
export const Lines = (options: StringOptions) => Type.String({ ...options, pattern: linesPattern })

/** What a caller reads in place of such a pattern. */
export const patternMessages: Readonly<Record<string, string>> = {
  [linePattern]: 'must have no control characters',
  [linesPattern]: 'must have no control characters but tabs and line ends',
}
