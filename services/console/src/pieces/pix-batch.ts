import { batchKeyOf, type PixKeyType, toMinorUnits } from '@backoffice/contracts'
import type { BankAgreement } from '../settings.ts'

/** A payment by a Pix key, in reais. */
export interface PixPayment {
  /** The id of the withdrawal. */
  readonly id: string
  /** Decimal, with two places. */
  readonly amount: string
  readonly destination: string
  readonly payee: string
}

/** A field of a record: its number there, its first and last position, its format, and what stands in it. */
type Field = readonly [name: string, from: number, to: number, format: 'num' | 'alpha', value: string | number | bigint]

export interface BatchRecord {
  readonly fields: readonly Field[]
  readonly line: string
}

const lineLength = 240

/**
 * Numbers stand on the right with zeros before them, texts on the left with blanks behind them.
 * @throws {RangeError} for what does not fit, so that nothing is cut off, and for fields that leave a position out
 */
function recordOf(fields: readonly Field[]): BatchRecord {
  const line = fields.reduce((before, [name, from, to, format, value]) => {
    const size = to - from + 1
    const text = String(value)
    if (before.length !== from - 1) throw new RangeError(`field ${name} does not begin at ${from}`)
    if (text.length > size || (format === 'num' && !/^\d*$/.test(text))) throw new RangeError(`field ${name}: ${text}`)
    return before + (format === 'num' ? text.padStart(size, '0') : text.padEnd(size))
  }, '')
  if (line.length !== lineLength) throw new RangeError(`a record of ${line.length} positions`)
  return { fields, line }
}

/** Capital letters without accents, as much as there is room for. */
const plain = (text: string, size: number): string =>
  text
    .normalize('NFD')
    .replaceAll(/[^ -~]/g, '')
    .toUpperCase()
    .slice(0, size)

/** How the payee is known (G100). */
const initiations: Readonly<Record<PixKeyType, string>> = {
  phone: '01',
  email: '02',
  cpf: '03',
  cnpj: '03',
  random: '04',
}

interface Given {
  readonly agreement: BankAgreement
  readonly payments: readonly PixPayment[]
  /** One more than that of the file before. */
  readonly number: number
  /** The day and time of the file, and the day of the payments, in the zone of the account: `YYYY-MM-DDTHH:MM:SS`. */
  readonly at: string
}

/**
 * A batch of transfers by Pix keys, which Brazilian banks take: "Padrão FEBRABAN 240 posições" (CNAB 240), version 10.11 of
 * 31/07/2023, published by FEBRABAN as "Layout padrao CNAB240 V 10 11 - 21_08_2023.pdf". The fields have its numbers and its
 * positions: the file's header and trailer (2.2), and of payments (3.1.2) the header of the lot, the segments A and B of each
 * payment, and the trailer. The codes are those of its descriptions (4.0): transfer by Pix (G029: 45) through the SPI (P001:
 * 009), and how the payee is known (G100). A key that is a CPF or CNPJ stands as the payee's number (G006); any other in
 * information 12 (G101), and in 11 where it fits. The bank returns the end of the withdrawal's id as `Seu Número` (G064).
 */
export function pixBatch({ agreement, payments, number, at }: Given): readonly BatchRecord[] {
  const [, year = '', month = '', day = '', ...clock] = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)$/.exec(at) ?? []
  const date = `${day}${month}${year}`
  const { bank } = agreement
  const total = payments.reduce((sum, { amount }) => sum + toMinorUnits(amount), 0n)
  const details = payments.flatMap((payment, index) => [
    segmentA(bank, payment, { place: index * 2 + 1, date }),
    segmentB(bank, payment, index * 2 + 2),
  ])
  return [
    fileHeader(agreement, { number, date, clock: clock.join('') }),
    lotHeader(agreement),
    ...details,
    lotTrailer(bank, { records: details.length + 2, total }),
    fileTrailer(bank, details.length + 4),
  ]
}

const fileHeader = (
  agreement: BankAgreement,
  { number, date, clock }: { readonly number: number; readonly date: string; readonly clock: string },
) =>
  recordOf([
    ['01.0', 1, 3, 'num', agreement.bank],
    ['02.0', 4, 7, 'num', '0000'],
    ['03.0', 8, 8, 'num', '0'],
    ['04.0', 9, 17, 'alpha', ''],
    ...accountFields(agreement, 5, '0'),
    ['14.0', 103, 132, 'alpha', plain(agreement.bankName, 30)],
    ['15.0', 133, 142, 'alpha', ''],
    ['16.0', 143, 143, 'num', '1'],
    ['17.0', 144, 151, 'num', date],
    ['18.0', 152, 157, 'num', clock],
    ['19.0', 158, 163, 'num', number],
    ['20.0', 164, 166, 'num', '103'],
    ['21.0', 167, 171, 'num', '01600'],
    ['22.0', 172, 191, 'alpha', ''],
    ['23.0', 192, 211, 'alpha', ''],
    ['24.0', 212, 240, 'alpha', ''],
  ])

const lotHeader = (agreement: BankAgreement) =>
  recordOf([
    ['01.1', 1, 3, 'num', agreement.bank],
    ['02.1', 4, 7, 'num', '0001'],
    ['03.1', 8, 8, 'num', '1'],
    ['04.1', 9, 9, 'alpha', 'C'],
    ['05.1', 10, 11, 'num', '98'],
    ['06.1', 12, 13, 'num', '45'],
    ['07.1', 14, 16, 'num', '046'],
    ['08.1', 17, 17, 'alpha', ''],
    ...accountFields(agreement, 9, '1'),
    ['18.1', 103, 142, 'alpha', ''],
    ['19.1', 143, 172, 'alpha', ''],
    ['20.1', 173, 177, 'num', '0'],
    ['21.1', 178, 192, 'alpha', ''],
    ['22.1', 193, 212, 'alpha', ''],
    ['23.1', 213, 217, 'num', '0'],
    ['24.1', 218, 220, 'alpha', ''],
    ['25.1', 221, 222, 'alpha', ''],
    ['26.1', 223, 224, 'num', '01'],
    ['27.1', 225, 230, 'alpha', ''],
    ['28.1', 231, 240, 'alpha', ''],
  ])

const lotTrailer = (bank: string, { records, total }: { readonly records: number; readonly total: bigint }) =>
  recordOf([
    ['01.5', 1, 3, 'num', bank],
    ['02.5', 4, 7, 'num', '0001'],
    ['03.5', 8, 8, 'num', '5'],
    ['04.5', 9, 17, 'alpha', ''],
    ['05.5', 18, 23, 'num', records],
    ['06.5', 24, 41, 'num', total],
    ['07.5', 42, 59, 'num', '0'],
    ['08.5', 60, 65, 'num', '0'],
    ['09.5', 66, 230, 'alpha', ''],
    ['10.5', 231, 240, 'alpha', ''],
  ])

const fileTrailer = (bank: string, records: number) =>
  recordOf([
    ['01.9', 1, 3, 'num', bank],
    ['02.9', 4, 7, 'num', '9999'],
    ['03.9', 8, 8, 'num', '9'],
    ['04.9', 9, 17, 'alpha', ''],
    ['05.9', 18, 23, 'num', '1'],
    ['06.9', 24, 29, 'num', records],
    ['07.9', 30, 35, 'num', '0'],
    ['08.9', 36, 240, 'alpha', ''],
  ])

/** Whose account it is: the same positions in the header of the file and in that of the lot. */
function accountFields(agreement: BankAgreement, first: number, record: string): readonly Field[] {
  const { cnpj, company, branch, branchDigit = '', account, accountDigit = '', branchAccountDigit = '' } = agreement
  const fields = [
    [18, 18, 'num', '2'],
    [19, 32, 'num', cnpj],
    [33, 52, 'alpha', agreement.agreement],
    [53, 57, 'num', branch],
    [58, 58, 'alpha', branchDigit],
    [59, 70, 'num', account],
    [71, 71, 'alpha', accountDigit],
    [72, 72, 'alpha', branchAccountDigit],
    [73, 102, 'alpha', plain(company, 30)],
  ] as const
  return fields.map(([from, to, format, value], index) => {
    return [`${String(first + index).padStart(2, '0')}.${record}`, from, to, format, value]
  })
}

function segmentA(
  bank: string,
  payment: PixPayment,
  { place, date }: { readonly place: number; readonly date: string },
) {
  return recordOf([
    ['01.3A', 1, 3, 'num', bank],
    ['02.3A', 4, 7, 'num', '0001'],
    ['03.3A', 8, 8, 'num', '3'],
    ['04.3A', 9, 13, 'num', place],
    ['05.3A', 14, 14, 'alpha', 'A'],
    ['06.3A', 15, 15, 'num', '0'],
    ['07.3A', 16, 17, 'num', '00'],
    ['08.3A', 18, 20, 'num', '009'],
    // The key leads to the account, whose bank nobody here knows.
    ['09.3A', 21, 23, 'num', '0'],
    ['10.3A', 24, 28, 'num', '0'],
    ['11.3A', 29, 29, 'alpha', ''],
    ['12.3A', 30, 41, 'num', '0'],
    ['13.3A', 42, 42, 'alpha', ''],
    ['14.3A', 43, 43, 'alpha', ''],
    ['15.3A', 44, 73, 'alpha', plain(payment.payee, 30)],
    ['16.3A', 74, 93, 'alpha', payment.id.slice(-20)],
    ['17.3A', 94, 101, 'num', date],
    ['18.3A', 102, 104, 'alpha', 'BRL'],
    ['19.3A', 105, 119, 'num', '0'],
    ['20.3A', 120, 134, 'num', toMinorUnits(payment.amount)],
    ['21.3A', 135, 154, 'alpha', ''],
    ['22.3A', 155, 162, 'num', '0'],
    ['23.3A', 163, 177, 'num', '0'],
    ['24.3A', 178, 217, 'alpha', ''],
    ['25.3A', 218, 219, 'alpha', ''],
    ['26.3A', 220, 224, 'alpha', ''],
    ['27.3A', 225, 226, 'alpha', ''],
    ['28.3A', 227, 229, 'alpha', ''],
    ['29.3A', 230, 230, 'num', '0'],
    // The document numbers it 29.3A once more.
    ['30.3A', 231, 240, 'alpha', ''],
  ])
}

/** @throws {RangeError} for a payment that is to no Pix key */
function segmentB(bank: string, { destination }: PixPayment, place: number) {
  const found = batchKeyOf({ method: 'pix', currency: 'BRL', destination })
  if (found === undefined) throw new RangeError('not a Pix key')
  const { type, key } = found
  const isNumber = type === 'cpf' || type === 'cnpj'
  const address = isNumber ? '' : type === 'random' ? key.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') : key
  return recordOf([
    ['01.3B', 1, 3, 'num', bank],
    ['02.3B', 4, 7, 'num', '0001'],
    ['03.3B', 8, 8, 'num', '3'],
    ['04.3B', 9, 13, 'num', place],
    ['05.3B', 14, 14, 'alpha', 'B'],
    ['06.3B', 15, 17, 'alpha', initiations[type]],
    ['07.3B', 18, 18, 'num', type === 'cpf' ? '1' : type === 'cnpj' ? '2' : '0'],
    ['08.3B', 19, 32, 'num', isNumber ? key : '0'],
    ['09.3B', 33, 67, 'alpha', ''],
    ['10.3B', 68, 127, 'alpha', address.length <= 60 ? address : ''],
    ['11.3B', 128, 226, 'alpha', address],
    ['12.3B', 227, 232, 'num', '0'],
    ['13.3B', 233, 240, 'num', '0'],
  ])
}
