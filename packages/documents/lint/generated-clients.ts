// What an integrator writes with clients that other people's tools generate from the OpenAPI document. The programs are
// compiled under strict, and never run: the tools must understand the document, and the union of error codes with their
// details must arrive in their types.

export interface Generator {
  readonly name: string
  readonly command: string
  /** Writes the client beside the program. */
  readonly args: (document: string, folder: string) => readonly string[]
  readonly program: string
}

export const generators: readonly Generator[] = [
  {
    name: 'openapi-typescript',
    command: 'openapi-typescript',
    args: (document, folder) => [document, '--output', `${folder}/generated.ts`],
    program: `import type { components, operations, webhooks } from './generated.ts'

type Refusal = operations['createDeposit']['responses'][403 | 409]['content']['application/json']['error']

export function explain(refusal: Refusal): string {
  if (refusal.code === 'DEPOSIT_ALREADY_EXISTS') return refusal.details.depositId
  if (refusal.code === 'RG_BLOCKED' && refusal.details.reason === 'daily_limit') return 'The limit of today is reached.'
  // @ts-expect-error: no code of this operation
  if (refusal.code === 'GAME_NOT_FOUND') return ''
  return refusal.message
}

export const isKnown = (code: string, known: readonly components['schemas']['ErrorCode'][]): boolean =>
  known.some((name) => name === code)

type Confirmed = webhooks['deposit.confirmed']['post']['requestBody']['content']['application/json']
export const credited = ({ data }: Confirmed): string | null =>
  data.previousStatus === 'pending' ? data.confirmedAt : null
`,
  },
  {
    name: '@hey-api/openapi-ts',
    command: 'openapi-ts',
    args: (document, folder) => ['--input', document, '--output', `${folder}/generated`, '--no-log-file'],
    program: `import { createDeposit, type Deposit, getKyc, type KycStatus } from './generated/index.ts'

export async function depositOnce(playerId: string, reference: string): Promise<Deposit | string> {
  const { data, error } = await createDeposit({
    path: { playerId },
    headers: { 'Idempotency-Key': \`\${reference}:create\` },
    body: { amount: '150.00', currency: 'BRL', method: 'pix', externalReference: reference },
  })
  if (data !== undefined) return data
  const refusal = error.error
  switch (refusal.code) {
    case 'DEPOSIT_ALREADY_EXISTS':
      return refusal.details.depositId
    case 'RG_BLOCKED': {
      const reason: 'self_exclusion' | 'daily_limit' | 'sandbox_trigger' = refusal.details.reason
      return reason
    }
    case 'VALIDATION_ERROR':
      return refusal.details.issues.map(({ path, message }) => \`\${path} \${message}\`).join('\\n')
    // @ts-expect-error: no code of this operation
    case 'GAME_NOT_FOUND':
      return ''
    default:
      return refusal.message
  }
}

export async function isApproved(playerId: string): Promise<boolean> {
  const { data } = await getKyc({ path: { playerId }, throwOnError: true })
  const status: KycStatus = data.kycStatus
  return status === 'aprovado'
}
`,
  },
]
