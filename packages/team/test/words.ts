import { type Field, fieldsOf } from '../src/fields.ts'
import type { AnyRow } from '../src/row.ts'

const samples: Readonly<Record<string, string>> = {
  amount: '-12.50',
  dailyDepositLimit: '200.00',
  template: 'https://kyc.example/{reference}',
  cpf: '529.982.247-25',
  email: 'ana@example.com',
  phone: '+5511987654321',
  allowedAddresses: '203.0.113.0/24',
  currency: 'USD',
  timeZone: 'America/Manaus',
}

function sampleOf({ name, flags, choices }: Field): string {
  if (/<n>/.test(flags)) return '7'
  if (/<time>/.test(flags)) return '2026-03-02'
  if (/<duration>/.test(flags)) return '30m'
  return samples[name] ?? choices.at(-1) ?? 'some-1'
}

/** What a person types for a command: all that it takes, or no more than it needs. */
export function wordsFor(row: AnyRow, how: 'all' | 'needed'): string[] {
  const fields = fieldsOf(row)
  const byPosition = [...(row.arguments ?? []), ...(row.either ?? [])]
  const options = fields
    .filter(({ name }) => !byPosition.includes(name as never))
    .filter((field) => how === 'all' || (field.required && field.default === undefined && !field.nullable))
  const positions = byPosition.flatMap((name) => fields.filter((field) => field.name === name))
  return [
    ...row.path.split(' '),
    ...positions.map(sampleOf),
    ...options.flatMap((field) => {
      const [flag = '', value] = field.flags.split(' ')
      return value === undefined ? [flag] : [flag, sampleOf(field)]
    }),
    '--json',
    ...(row.confirm === undefined ? [] : ['--yes']),
  ]
}
