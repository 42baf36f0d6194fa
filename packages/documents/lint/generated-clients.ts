// What an integrator writes with clients that other people's tools generate from the OpenAPI document. The programs are
// compiled under strict: the tools must understand the document, and the union of error codes with their details must
// arrive in their types. The one with a validator is run as well.

export interface Generator {
  readonly name: string
  readonly command: string
  /** Writes the client beside the program. */
  readonly args: (document: string, folder: string) => readonly string[]
  readonly program: string
  /** With the document as its argument. */
  readonly isRun?: boolean
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
  {
    name: '@hey-api/openapi-ts with valibot',
    command: 'openapi-ts',
    args: (document, folder) => [
      ...['--input', document, '--output', `${folder}/generated`, '--no-log-file', '--plugins', 'valibot'],
    ],
    isRun: true,
    program: `import { readFileSync } from 'node:fs'
import * as v from 'valibot'
import * as generated from './generated/valibot.gen.ts'

const schemas = generated as unknown as Record<string, v.GenericSchema | undefined>
const nameOf = (id: string, suffix: string) =>
  'v' + id.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('') + suffix

/** As a later version may send it: each object has one more field. */
function grown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(grown)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([name, field]) => [name, grown(field)])
  return { ...Object.fromEntries(fields), fieldOfTomorrow: { value: 'x' } }
}

const { paths, webhooks } = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const sent: [name: string, example: unknown][] = []
for (const operation of Object.values<Record<string, any>>(paths).flatMap((methods) => Object.values(methods)))
  for (const [status, { content }] of Object.entries<any>(operation.responses))
    if (status.startsWith('2') && content['application/json']?.example !== undefined)
      sent.push([nameOf(operation.operationId, 'Response'), content['application/json'].example])
for (const [kind, { post }] of Object.entries<any>(webhooks))
  sent.push([nameOf(kind, 'Event'), post.requestBody.content['application/json'].example])

const isTaken = (name: string, value: unknown): boolean => {
  const schema = schemas[name]
  if (schema === undefined) throw new Error(\`no schema \${name}\`)
  return v.safeParse(schema, value).success
}

if (sent.length < 15) throw new Error(\`\${sent.length} examples\`)
const today = sent.filter(([name, example]) => !isTaken(name, example)).map(([name]) => name)
const tomorrow = sent.filter(([name, example]) => !isTaken(name, grown(example))).map(([name]) => name)
// The document says that GET /me has no other fields.
if (today.length > 0 || tomorrow.join() !== 'vGetMeResponse')
  throw new Error(\`refused today: \${today.join()}; with one more field: \${tomorrow.join()}\`)
`,
  },
]
