import { BigNumber } from 'bignumber.js'

/** Matches an amount in a request: no sign, no leading zero, at most 13 integer digits and 2 decimals. Zero is refused apart. */
export const amountPattern = '^(0|[1-9]\\d{0,12})(\\.\\d{1,2})?$'
/** Matches money in a reply: exactly 2 decimals, and a sign where money leaves. */
export const moneyPattern = '^-?(0|[1-9]\\d*)\\.\\d{2}$'

const minorUnitsPerUnit = 100

/**
 * Reads a decimal string as minor units (centavos).
 * @throws {RangeError} when the string is not a decimal with at most 2 decimals
 */
export function toMinorUnits(decimal: string): bigint {
  if (!/^-?\d+(\.\d{1,2})?$/.test(decimal)) throw new RangeError(`not a money string: ${decimal}`)
  return BigInt(new BigNumber(decimal).times(minorUnitsPerUnit).toFixed(0))
}

/** Writes minor units (centavos) as a decimal string with exactly 2 decimals, for example -1250n as "-12.50". */
export function fromMinorUnits(minorUnits: bigint): string {
  return new BigNumber(minorUnits.toString()).div(minorUnitsPerUnit).toFixed(2)
}

/** Whether a request's amount is well formed and over zero. */
export function isPositiveAmount(value: string): boolean {
  return new RegExp(amountPattern).test(value) && toMinorUnits(value) > 0n
}
