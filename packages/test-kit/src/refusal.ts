import { type ErrorCode, Rejection } from '@backoffice/contracts'

/** The code that a call was refused with, or null when it was accepted. Any other error is thrown on. */
export async function refusal(call: Promise<unknown>): Promise<ErrorCode | null> {
  try {
    await call
    return null
  } catch (error) {
    if (error instanceof Rejection) return error.code
    throw error
  }
}

/** The same of a rule, which is asked at once. */
export function codeOf(rule: () => unknown): ErrorCode | null {
  try {
    rule()
    return null
  } catch (error) {
    if (error instanceof Rejection) return error.code
    throw error
  }
}
